package p2p

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"go.uber.org/zap"
)

// knockFirst is how long the first knocks wait for an answer, beside the round trip.
const knockFirst = 100 * time.Millisecond

// knockPause is how long a knock waits for an answer after so much silence: a sixteenth of it. So a cut of any length is
// found to be over soon after, compared with how long it was, and a peer that is gone is knocked at some forty times
// before the connection is given up.
func knockPause(silence time.Duration) time.Duration { return max(knockFirst, silence/16) }

// keepKnocking finds out, while the peer is silent for twice as long as it may be, whether it answers to others than this
// connection. TCP sends what was lost again after pauses that double, so after a cut a connection stays silent for as
// long again as the cut was; a new one works at once.
func (s *session) keepKnocking(ctx context.Context) {
	for {
		select {
		case <-s.over:
			return
		case <-s.quiet:
		}
		begin := time.Now()
		wait := knockPause(s.silence(begin)) + 2*time.Duration(s.rtt.Load())
		if s.knock(ctx, wait) && s.stillSilent(ctx) {
			s.link.host.log.Info("silent, but there for a new connection", zap.Stringer("peer", s.peer.ID), zap.Duration("silence", s.silence(time.Now())))
			s.end(Cause{Kind: CauseSilent})
			return
		}
		if !pause(ctx, wait-time.Since(begin)) {
			return
		}
	}
}

// stillSilent gives a peer that has just woken a moment to be heard over the connection there is.
func (s *session) stillSilent(ctx context.Context) bool {
	return pause(ctx, s.link.host.cfg.Heartbeat/2) && s.doubted() != nil
}

// knock says whether the peer's process answers at one of its addresses within wait.
func (s *session) knock(ctx context.Context, wait time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	addrs := s.doors()
	answers := make(chan error, len(addrs))
	for _, a := range addrs {
		go func() { answers <- knockAt(ctx, a) }()
	}
	answered := false
	for range addrs {
		if err := <-answers; err == nil {
			answered = true
			cancel()
		}
	}
	return answered
}

// mostDoors bounds the addresses that are knocked at.
const mostDoors = 4

// doors are the peer's TCP addresses: where it is dialled, else where it was.
func (s *session) doors() []ma.Multiaddr {
	s.link.mu.Lock()
	addrs := s.link.addrs
	s.link.mu.Unlock()
	if c := s.stream.Conn(); len(addrs) == 0 && c.Stat().Direction == network.DirOutbound {
		addrs = []ma.Multiaddr{c.RemoteMultiaddr()}
	}
	var doors []ma.Multiaddr
	for _, a := range addrs {
		if _, err := a.ValueForProtocol(ma.P_TCP); err == nil && len(doors) < mostDoors {
			doors = append(doors, a)
		}
	}
	return doors
}

// knockAt connects to a TCP address and waits for the first byte, which the listener sends unasked: the kernel of a
// process that stands still connects, too.
func knockAt(ctx context.Context, at ma.Multiaddr) error {
	kind, address, err := manet.DialArgs(at)
	if err != nil {
		return err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, kind, address)
	if err != nil {
		return err
	}
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetLinger(0) // a knock leaves nothing behind
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = errors.Join(err, c.SetReadDeadline(deadline))
	}
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	return errors.Join(err, c.Close())
}
