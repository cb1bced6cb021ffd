package admission

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/core/sec"
	tptu "github.com/libp2p/go-libp2p/p2p/net/upgrader"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
)

// SecurityID names Noise followed by the certificate exchange. It is not plain Noise, so a libp2p host that knows
// nothing of certificates fails at once and clearly.
const SecurityID = "/fednode/noise/1"

// SecureTransport is Noise with the certificate exchange as its last step.
type SecureTransport struct {
	door  *Door
	inner sec.SecureTransport
}

var _ sec.SecureTransport = (*SecureTransport)(nil)

// NoiseConstructor returns the constructor for libp2p.Security(SecurityID, …).
func (d *Door) NoiseConstructor() func(protocol.ID, crypto.PrivKey, []tptu.StreamMuxer) (*SecureTransport, error) {
	return func(id protocol.ID, key crypto.PrivKey, muxers []tptu.StreamMuxer) (*SecureTransport, error) {
		inner, err := noise.New(id, key, muxers)
		if err != nil {
			return nil, err
		}
		return &SecureTransport{door: d, inner: inner}, nil
	}
}

// SecureInbound secures a connection that somebody made to us.
func (t *SecureTransport) SecureInbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	thin(insecure)
	c, err := t.inner.SecureInbound(ctx, insecure, p)
	if err != nil {
		return nil, err
	}
	return t.greet(c, false)
}

// SecureOutbound secures a connection that we made to p.
func (t *SecureTransport) SecureOutbound(ctx context.Context, insecure net.Conn, p peer.ID) (sec.SecureConn, error) {
	thin(insecure)
	c, err := t.inner.SecureOutbound(ctx, insecure, p)
	if err != nil {
		return nil, err
	}
	return t.greet(c, true)
}

// ID is the name under which both sides agree on this transport.
func (t *SecureTransport) ID() protocol.ID { return t.inner.ID() }

func (t *SecureTransport) greet(c sec.SecureConn, weDialled bool) (sec.SecureConn, error) {
	err := c.SetDeadline(time.Now().Add(t.door.timeout))
	if err == nil {
		err = t.door.Greet(c, c.RemotePeer(), weDialled)
	}
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}
