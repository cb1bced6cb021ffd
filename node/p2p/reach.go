package p2p

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
)

// establish gets a control stream, dialling first if need be. nil and no error: there is nothing to be had now.
func (l *link) establish(ctx context.Context) (network.Stream, error) {
	if s := l.taken(); s != nil {
		return s, nil
	}
	if !l.connected() {
		addrs, news := l.target()
		if news {
			l.pauses.reset()
			l.host.net.Peerstore().ClearAddrs(l.id) // old addresses would be tried, too
		}
		if len(addrs) == 0 {
			return nil, nil
		}
		if err := l.dial(ctx, addrs); err != nil {
			return nil, err
		}
	}
	if opens(l.host.self, l.id) {
		return l.open(ctx)
	}
	return l.await(ctx)
}

// dial connects.
func (l *link) dial(ctx context.Context, addrs []ma.Multiaddr) error {
	within := l.host.cfg.DialTimeout
	if l.rtt > 0 { // else nothing is known of the way
		within = l.pauses.allow(l.rtt, within)
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	// libp2p's own backoff reaches minutes, and keeps the cause of the first failure to itself.
	if s, ok := l.host.net.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(l.id)
	}
	l.host.net.Peerstore().AddAddrs(l.id, addrs, peerstore.TempAddrTTL)
	if err := l.host.net.Connect(ctx, peer.AddrInfo{ID: l.id, Addrs: addrs}); err != nil {
		return &dialError{err}
	}
	return nil
}

// dialError is that no connection came about.
type dialError struct{ cause error }

func (e *dialError) Error() string { return "dial: " + e.cause.Error() }
func (e *dialError) Unwrap() error { return e.cause }

// open opens the control stream on the connection there is.
func (l *link) open(ctx context.Context) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(network.WithNoDial(ctx, "session"), l.host.cfg.HelloTimeout)
	defer cancel()
	s, err := l.host.net.NewStream(ctx, l.id, ControlProtocol)
	if err != nil {
		return nil, fmt.Errorf("open control stream: %w", err)
	}
	return s, nil
}

// await waits for the peer to open the control stream; one that does not is disconnected.
func (l *link) await(ctx context.Context) (network.Stream, error) {
	timer := time.NewTimer(l.host.cfg.HelloTimeout)
	defer timer.Stop()
	for l.connected() {
		select {
		case s := <-l.incoming:
			return s, nil
		case <-l.wake:
		case <-timer.C:
			l.host.drop(l.id)
			return nil, &PeerError{Place: "control stream", Got: "none within " + l.host.cfg.HelloTimeout.String(), Expected: "one"}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return nil, errGone
}

var errGone = errors.New("p2p: the connection ended before the hello")
