package admission

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/connmgr"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/pnet"
	"github.com/libp2p/go-libp2p/core/transport"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/quicreuse"
	ma "github.com/multiformats/go-multiaddr"
)

// QUIC is the QUIC transport with the certificate exchange on the first stream of each connection, before libp2p sees
// the connection.
type QUIC struct {
	transport.Transport
	door *Door
}

// QUICConstructor returns the constructor for libp2p.Transport.
func (d *Door) QUICConstructor() func(crypto.PrivKey, *quicreuse.ConnManager, pnet.PSK, connmgr.ConnectionGater, network.ResourceManager) (*QUIC, error) {
	return func(key crypto.PrivKey, m *quicreuse.ConnManager, psk pnet.PSK, g connmgr.ConnectionGater, r network.ResourceManager) (*QUIC, error) {
		inner, err := quic.NewTransport(key, m, psk, g, r)
		if err != nil {
			return nil, err
		}
		return &QUIC{Transport: inner, door: d}, nil
	}
}

// Close closes the transport below.
func (q *QUIC) Close() error {
	if c, ok := q.Transport.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// Dial connects and shows our certificate on the first stream.
func (q *QUIC) Dial(ctx context.Context, raddr ma.Multiaddr, p peer.ID) (transport.CapableConn, error) {
	c, err := q.Transport.Dial(ctx, raddr, p)
	if err != nil {
		return nil, err
	}
	s, err := c.OpenStream(ctx)
	if err == nil {
		err = q.greet(s, p, true)
	}
	if err != nil {
		return nil, errors.Join(err, c.CloseWithError(network.ConnGated))
	}
	return c, nil
}

func (q *QUIC) greet(s network.MuxedStream, p peer.ID, weDialled bool) error {
	err := s.SetDeadline(time.Now().Add(q.door.timeout))
	if err == nil {
		err = q.door.Greet(s, p, weDialled)
	}
	// The other side may have closed first, in which case closing is an error that means nothing.
	_ = s.Close()
	return err
}

// Listen accepts connections and hands on those that were admitted.
func (q *QUIC) Listen(laddr ma.Multiaddr) (transport.Listener, error) {
	inner, err := q.Transport.Listen(laddr)
	if err != nil {
		return nil, err
	}
	l := &listener{Listener: inner, quic: q, admitted: make(chan transport.CapableConn),
		places: make(chan struct{}, maxAdmitting), done: make(chan struct{})}
	l.running.Go(l.run)
	return l, nil
}

// maxAdmitting is how many QUIC connections may be in the exchange at once; more are closed at once, so that silent
// ones cannot pile up.
const maxAdmitting = 64

type listener struct {
	transport.Listener
	quic     *QUIC
	admitted chan transport.CapableConn // never closed; unbuffered, so that no connection is lost in it at the end
	places   chan struct{}
	done     chan struct{} // closed when the inner listener ended
	running  sync.WaitGroup
	failed   error // why it ended; written before done is closed
}

// run accepts until the inner listener ends.
func (l *listener) run() {
	ctx, cancel := context.WithCancel(context.Background()) // Close ends it, by way of Accept
	defer cancel()
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			l.failed = err
			close(l.done)
			return
		}
		select {
		case l.places <- struct{}{}:
			l.running.Go(func() { l.admit(ctx, c) })
		default:
			c.CloseWithError(network.ConnResourceLimitExceeded) // an error here changes nothing: it is refused
		}
	}
}

// admit runs the exchange on the first stream of c, then hands c on or closes it.
func (l *listener) admit(ctx context.Context, c transport.CapableConn) {
	err := l.greet(ctx, c)
	if err != nil {
		linger(ctx, c)
	}
	<-l.places
	if err != nil {
		return
	}
	select {
	case l.admitted <- c:
	case <-l.done:
		c.Close()
	}
}

func (l *listener) greet(ctx context.Context, c transport.CapableConn) error {
	// AcceptStream has no deadline of its own: a silent peer, or the end of the listener, cuts it off from outside.
	ctx, cancel := context.WithTimeout(ctx, l.quic.door.timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.CloseWithError(network.ConnGated) })
	defer stop()
	s, err := c.AcceptStream()
	if err != nil {
		return err
	}
	return l.quic.greet(s, c.RemotePeer(), false)
}

// linger gives the refusal a moment to arrive before the connection is closed: closing a QUIC connection discards what
// was not sent yet.
func linger(ctx context.Context, c transport.CapableConn) {
	const moment = 200 * time.Millisecond
	timer := time.NewTimer(moment)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	c.CloseWithError(network.ConnGated)
}

// Accept returns the next admitted connection.
func (l *listener) Accept() (transport.CapableConn, error) {
	select {
	case c := <-l.admitted:
		return c, nil
	case <-l.done:
		return nil, l.failed
	}
}

// Close ends the listener and waits for its goroutines.
func (l *listener) Close() error {
	err := l.Listener.Close()
	l.running.Wait()
	return err
}
