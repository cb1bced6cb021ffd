package p2p

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/trust"
	"fednode/node/wire"
)

// link is all we do about one peer: dial it if we are told to, open or await the control stream, run the session,
// and again. One goroutine (run) owns the order of these.
type link struct {
	// fixed after newLink
	host *Host
	id   peer.ID
	log  *zap.Logger

	wake     chan struct{}       // capacity 1: a connection came or went, or addresses changed
	incoming chan network.Stream // capacity 1: the newest control stream that the peer opened

	// owned by run
	pauses   pauses
	early    network.Stream // a control stream that came during a pause
	troubled string         // the kind of trouble that was logged; "" when all is well
	rtt      time.Duration  // of the last session; 0 before the first

	mu       sync.Mutex
	addrs    []ma.Multiaddr // where to dial; none: we do not dial
	news     bool           // the peer may be there now: forget the pause
	session  *session       // nil between sessions
	member   trust.Member   // whose session was the last; the zero value before the first
	patience patience       // outlives sessions: it is about the path
	line     dcaa.Line      // so does what is normal of the way
	last     string         // why there is no session, for status
}

func newLink(h *Host, id peer.ID) *link {
	return &link{host: h, id: id, log: h.log.With(zap.Stringer("peer", id)), wake: make(chan struct{}, 1),
		incoming: make(chan network.Stream, 1), pauses: pauses{cfg: h.cfg.Redial}, patience: newPatience(h.cfg)}
}

// nudge makes run look again.
func (l *link) nudge() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// joined takes in a new connection. A peer that makes one while it is held for silent, or does not hear us, has given up
// the old one.
func (l *link) joined(direction network.Direction) {
	if s := l.current(); s != nil && direction == network.DirInbound && s.doubted() != nil {
		s.end(Cause{Kind: CauseGivenUp})
	}
	l.nudge()
}

// aim sets where to dial. That is news even if the addresses are the same: whoever says it, a person or the gossip, has
// a reason to believe that the peer is there now.
func (l *link) aim(addrs []ma.Multiaddr) {
	l.mu.Lock()
	l.addrs, l.news = slices.Clone(addrs), true
	l.mu.Unlock()
	l.nudge()
}

// target returns where to dial and whether that is news.
func (l *link) target() (addrs []ma.Multiaddr, news bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	news, l.news = l.news, false
	return l.addrs, news
}

// offer hands over a control stream that the peer opened. The peer opens a new one when it gave up the old session, so
// the old one ends here, too.
func (l *link) offer(s network.Stream) {
	// Before the stream is in place, or the session that ends could be the new one.
	l.end(Cause{Kind: CauseReplaced})
	for {
		select {
		case l.incoming <- s:
			return
		default:
		}
		select {
		case old := <-l.incoming:
			resetWith(old, CodeReplaced)
		default:
		}
	}
}

func (l *link) current() *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.session
}

func (l *link) setCurrent(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session = s; s != nil {
		l.member = s.peer.Member
	}
}

// end ends the session that is up; false if there is none.
func (l *link) end(c Cause) bool {
	s := l.current()
	if s != nil {
		s.end(c)
	}
	return s != nil
}

// send queues a message in the session that is up.
func (l *link) send(m wire.Message) error {
	s := l.current()
	if s == nil {
		return ErrNotUp
	}
	return s.send(m)
}

// idle says whether there is nothing to do about this peer. Called with Host.mu held.
func (l *link) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.addrs) == 0 && len(l.incoming) == 0 && l.session == nil && !l.connected()
}

func (l *link) connected() bool { return l.host.net.Network().Connectedness(l.id) == network.Connected }

// run keeps the peer's sessions until ctx ends or nothing is left to do.
func (l *link) run(ctx context.Context) {
	defer l.clear()
	for ctx.Err() == nil {
		s, err := l.establish(ctx)
		switch {
		case err != nil:
			l.trouble(ctx, err)
			l.pause(ctx, l.longestPause(err))
		case s != nil:
			l.serve(ctx, s)
		case l.host.retire(l):
			return
		}
	}
}

// clear refuses a stream that came too late.
func (l *link) clear() {
	if s := l.taken(); s != nil {
		resetWith(s, CodeShutdown)
	}
}

// taken returns the newest control stream that the peer opened, nil if there is none.
func (l *link) taken() network.Stream {
	early := l.early
	l.early = nil
	select {
	case s := <-l.incoming:
		if early != nil {
			resetWith(early, CodeReplaced)
		}
		return s
	default:
		return early
	}
}

// longestPause is how long to wait at most before the next try. Who answers and refuses is left alone for longer than who
// does not answer.
func (l *link) longestPause(err error) time.Duration {
	if errors.As(err, new(*dialError)) {
		return l.host.cfg.Redial.sooner(l.host.away())
	}
	return l.host.cfg.Redial.Max
}

// pause waits before the next try, unless there is news.
func (l *link) pause(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(l.pauses.draw(longest))
	defer timer.Stop()
	for {
		select {
		case s := <-l.incoming:
			l.early = s
			return
		case <-l.wake:
			if l.connected() || l.hasNews() {
				return
			}
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (l *link) hasTarget() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.addrs) > 0
}

func (l *link) hasNews() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news
}

// trouble logs why there is no session: the first cause, and again when it is another one, not each try.
func (l *link) trouble(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return // we stop, and that is the trouble
	}
	kind := troubleKind(err)
	l.setLast(kind + ": " + printable(err.Error(), maxReason))
	if kind == l.troubled {
		l.log.Debug("no session with the peer", zap.Error(err))
		return
	}
	l.troubled = kind
	if !l.hasTarget() {
		// It came to us; a peer that comes and goes must not fill the log.
		l.log.Debug("no session with the peer", zap.String("why", kind), zap.Error(err))
		return
	}
	l.log.Warn("no session with the peer; trying again", zap.String("why", kind), zap.Error(err))
}

// maxReason is how much of an error status shows.
const maxReason = 500

func (l *link) setLast(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = reason
}

// serve runs one session.
func (l *link) serve(ctx context.Context, stream network.Stream) {
	s, err := l.greet(ctx, stream)
	if err != nil {
		resetWith(stream, codeOf(err))
		l.trouble(ctx, err)
		l.pause(ctx, l.longestPause(err)) // a peer that cannot greet will not learn it at once
		return
	}
	l.host.net.ConnManager().Protect(l.id, "session")
	l.setCurrent(s)
	l.troubled = ""
	begin := time.Now()
	cause := s.run(ctx)
	l.setCurrent(nil)
	l.setLast(cause.String())
	l.host.net.ConnManager().Unprotect(l.id, "session")
	l.rtt = max(l.rtt/2, time.Duration(s.rtt.Load())) // a session that ended at once has measured nothing
	if cause.Kind == CauseUntrusted {
		l.host.drop(l.id) // not wanted
	}
	if time.Since(begin) > l.host.cfg.HelloTimeout {
		l.pauses.reset()
		return // and redial at once
	}
	// A session that ends as soon as it is made must not be made again and again.
	l.pause(ctx, l.host.cfg.Redial.Max)
}

func codeOf(err error) network.StreamErrorCode {
	var v *VersionError
	if errors.As(err, &v) {
		return CodeVersion
	}
	return CodeProtocol
}
