package p2p

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/peerstore"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	ma "github.com/multiformats/go-multiaddr"
	"go.uber.org/zap"

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
	troubled string // the kind of trouble that was logged; "" when all is well

	mu       sync.Mutex
	addrs    []ma.Multiaddr // where to dial; none: we do not dial
	news     bool           // addresses changed: forget the pause
	session  *session       // nil between sessions
	patience patience       // outlives sessions: it is about the path
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

// aim sets where to dial.
func (l *link) aim(addrs []ma.Multiaddr) {
	l.mu.Lock()
	same := len(addrs) == len(l.addrs) && !slices.ContainsFunc(addrs, func(a ma.Multiaddr) bool {
		return !slices.ContainsFunc(l.addrs, a.Equal)
	})
	l.addrs, l.news = slices.Clone(addrs), l.news || !same
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
	for {
		select {
		case l.incoming <- s:
			l.end(Cause{Kind: CauseReplaced})
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
	l.session = s
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
			l.trouble(err)
			l.pause(ctx)
		case s != nil:
			l.serve(ctx, s)
		case l.host.retire(l):
			return
		}
	}
}

// clear refuses a stream that came too late.
func (l *link) clear() {
	select {
	case s := <-l.incoming:
		resetWith(s, CodeShutdown)
	default:
	}
}

// establish gets a control stream. nil and no error: there is nothing to be had now.
func (l *link) establish(ctx context.Context) (network.Stream, error) {
	select {
	case s := <-l.incoming:
		return s, nil
	default:
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
		return nil, l.dial(ctx, addrs)
	}
	if opens(l.host.self, l.id) {
		return l.open(ctx)
	}
	return l.await(ctx)
}

// dial connects. The next round then opens or awaits the stream.
func (l *link) dial(ctx context.Context, addrs []ma.Multiaddr) error {
	ctx, cancel := context.WithTimeout(ctx, l.host.cfg.DialTimeout)
	defer cancel()
	// libp2p's own backoff reaches minutes, and keeps the cause of the first failure to itself.
	if s, ok := l.host.net.Network().(*swarm.Swarm); ok {
		s.Backoff().Clear(l.id)
	}
	l.host.net.Peerstore().AddAddrs(l.id, addrs, peerstore.TempAddrTTL)
	if err := l.host.net.Connect(ctx, peer.AddrInfo{ID: l.id, Addrs: addrs}); err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	return nil
}

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
			return nil, nil
		}
	}
	return nil, nil
}

// pause waits before the next try, unless there is news.
func (l *link) pause(ctx context.Context) {
	timer := time.NewTimer(l.pauses.draw())
	defer timer.Stop()
	for {
		select {
		case s := <-l.incoming:
			l.offer(s) // back into its place; establish takes it
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

func (l *link) hasNews() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.news
}

// trouble logs why there is no session: the first cause, and again when it is another one, not each try.
func (l *link) trouble(err error) {
	kind := troubleKind(err)
	l.setLast(kind + ": " + printable(err.Error(), maxReason))
	if kind == l.troubled {
		l.log.Debug("no session with the peer", zap.Error(err))
		return
	}
	l.troubled = kind
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
		if ctx.Err() == nil {
			l.trouble(err)
			// The version will not change by itself, and a peer that cannot greet will not learn it at once.
			l.pause(ctx)
		}
		return
	}
	l.host.net.ConnManager().Protect(l.id, "session")
	l.setCurrent(s)
	l.troubled = ""
	l.pauses.reset()
	cause := s.run(ctx)
	l.setCurrent(nil)
	l.setLast(cause.String())
	l.host.net.ConnManager().Unprotect(l.id, "session")
	switch cause.Kind {
	case CauseSilent, // the connection looks alive to libp2p for a minute yet: make a new one
		CauseUntrusted:
		l.host.drop(l.id)
	}
}

func codeOf(err error) network.StreamErrorCode {
	var v *VersionError
	if errors.As(err, &v) {
		return CodeVersion
	}
	return CodeProtocol
}
