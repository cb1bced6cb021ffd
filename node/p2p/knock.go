package p2p

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
	"go.uber.org/zap"
)

// tcpTries is how long TCP does as well as a new connection would: what was lost is sent again after 0.2, 0.6 and 1.4 s, and
// then only after 3 s.
const tcpTries = 1400 * time.Millisecond

// knockWait is how long a knock waits for an answer, beside round trips.
const knockWait = 500 * time.Millisecond

// knockPause is the time between two knocks after so much silence: a heartbeat, and later a thirty-second of the silence.
// So a cut of any length is found to be over soon after, compared with how long it was.
func (s *session) knockPause(silence time.Duration) time.Duration {
	return max(s.link.host.cfg.Heartbeat*3/4, silence/32) // it is looked once a heartbeat
}

// keepKnocking finds out, while the peer is silent for more than twice as long as it may be, whether it answers to others
// than this connection. TCP sends what was lost again after pauses that double, so after a cut a connection stays silent for
// as long again as the cut was; a new one works at once. If the first knock is answered there is no cut but a bad line,
// and the limit adapts.
func (s *session) keepKnocking(ctx context.Context) {
	answers := make(chan int)
	var k *knock // the last one
	defer func() { k.stop() }()
	var last time.Time
	for number := 0; ; {
		select {
		case <-s.over:
			return
		case <-s.quiet:
			now := time.Now()
			silence := s.silence(now)
			switch since := now.Sub(last); {
			case since < s.knockPause(silence), k.waits(since, s.knockReach()):
				continue
			case since > silence:
				number = 0 // the last knock was about another silence
			}
			k.stop()
			k = s.knock(ctx, number, answers)
			last, number = now, number+1
		case n := <-answers:
			if s.stillSilent(ctx) {
				s.giveUp(n)
				return
			}
		}
	}
}

// stillSilent gives a peer that has just woken a moment to be heard over the connection there is.
func (s *session) stillSilent(ctx context.Context) bool {
	return pause(ctx, s.link.host.cfg.Heartbeat/5) && s.doubted() != nil
}

// giveUp ends the session of a peer that answered after some knocks.
func (s *session) giveUp(unanswered int) {
	now := time.Now()
	silence := s.silence(now)
	s.link.log.Info("silent, but there for a new connection", zap.Duration("silence", silence), zap.Int("unanswered", unanswered))
	if unanswered == 0 {
		s.link.refuted(silence, now)
	}
	s.end(Cause{Kind: CauseGivenUp})
}

// knock is one try to reach a peer. There is one at a time, so that a peer which is slow to answer has no more to do for it.
type knock struct {
	end context.CancelFunc
	// reached: a connection stands, be it that nothing has come over it yet.
	reached atomic.Bool
	done    chan struct{} // closed at its end
}

// knock begins one, which says its number if the peer's process answers at one of its addresses in time.
func (s *session) knock(ctx context.Context, number int, answers chan<- int) *knock {
	ctx, cancel := context.WithTimeout(ctx, knockWait+2*time.Duration(s.rtt.Load()))
	k := &knock{end: cancel, done: make(chan struct{})}
	var doors sync.WaitGroup
	for _, a := range s.doors() {
		doors.Go(func() {
			if k.at(ctx, a) != nil {
				return
			}
			select {
			case answers <- number:
			case <-ctx.Done():
			}
		})
	}
	go func() {
		defer close(k.done)
		doors.Wait()
		cancel()
	}()
	return k
}

// knockReach is after how long a knock that has reached nobody is taken for lost: it had two round trips. The first one of
// a session may not be known yet.
func (s *session) knockReach() time.Duration {
	if rtt := time.Duration(s.rtt.Load()); rtt > 0 {
		return 2 * rtt
	}
	return knockWait
}

// waits reports whether a knock that began so long ago may still be answered. One that was lost on the way is not sent
// again before long by TCP, so another one is quicker; one that has reached a process that is slow would be no quicker.
func (k *knock) waits(since, reach time.Duration) bool {
	if k == nil {
		return false
	}
	select {
	case <-k.done:
		return false
	default:
		return k.reached.Load() || since < reach
	}
}

// stop ends a knock, if there is one, and returns when nothing of it is left.
func (k *knock) stop() {
	if k != nil {
		k.end()
		<-k.done
	}
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

// at connects to a TCP address and waits for the first byte, which the listener sends unasked: the kernel of a
// process that stands still connects, too.
func (k *knock) at(ctx context.Context, door ma.Multiaddr) error {
	kind, address, err := manet.DialArgs(door)
	if err != nil {
		return err
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, kind, address)
	if err != nil {
		return err
	}
	k.reached.Store(true)
	if t, ok := c.(*net.TCPConn); ok {
		err = t.SetLinger(0) // a knock leaves nothing behind
	}
	stop := context.AfterFunc(ctx, func() { c.Close() })
	if err == nil {
		_, err = c.Read(make([]byte, 1))
	}
	if stop() {
		err = errors.Join(err, c.Close())
	}
	return err
}
