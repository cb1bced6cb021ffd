package p2p

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"go.uber.org/zap"
	"golang.org/x/time/rate"

	"fednode/node/wire"
)

// session is one accepted hello with a peer, from then until the control stream ends.
type session struct {
	// fixed after newSession
	link   *link
	peer   Peer
	stream network.Stream
	in     *wire.ControlReader // owned by the reader
	out    *encoder
	queue  chan []byte   // encoded messages; full: send refuses. Never closed
	owing  chan struct{} // capacity 1: credits is not empty
	over   chan struct{} // closed when the session ends
	quiet  chan struct{} // capacity 1: the peer has been silent for long

	inbox *inbox // what the handler has yet to be told

	heard   atomic.Int64 // when the last byte came, as Host.since shows it
	resumed atomic.Int64 // when one last came behind a silence
	rtt     atomic.Int64 // smoothed, nanoseconds; 0 before the first
	waiting atomic.Bool  // the reader waits for room in the inbox: what the peer says lies unread
	judging sync.Mutex   // guards watch, and keeps doubts and their ends in order
	watch   watch

	mu      sync.Mutex
	cause   *Cause // why it ended; the first wins
	doubt   *Cause // the peer was told to be down, in this session; nil while it is up
	streams map[streamKey]*Stream
	credits map[uint64]uint64 // to be given back, by subscription
}

// streamKey names a data stream of a session: each side numbers its own subscriptions.
type streamKey struct {
	ours         bool // we opened it, the subscription is the peer's
	subscription uint64
}

func newSession(l *link, stream network.Stream, in *wire.ControlReader, out *encoder, p Peer) *session {
	s := &session{link: l, peer: p, stream: stream, in: in, out: out,
		queue: make(chan []byte, l.host.cfg.Queue), owing: make(chan struct{}, 1), over: make(chan struct{}), quiet: make(chan struct{}, 1),
		inbox:   newInbox(l.host.cfg.Queue),
		streams: make(map[streamKey]*Stream), credits: make(map[uint64]uint64)}
	s.watch.hearsUs = time.Now()
	l.mu.Lock()
	l.line.Begin()
	l.mu.Unlock()
	s.touch()
	return s
}

// touch notes a sign of life. The limit, which needs a lock, is looked at only behind a pause that may be beyond it.
func (s *session) touch() {
	now := time.Now()
	at := s.link.host.since(now)
	last := time.Duration(s.heard.Swap(int64(at)))
	gap := at - last
	if last != 0 && gap > s.link.host.cfg.silence() && gap > s.link.limit(now) {
		s.resumed.Store(int64(at))
	}
}

// silence is how long nothing was heard at time now.
func (s *session) silence(now time.Time) time.Duration {
	return s.link.host.since(now) - time.Duration(s.heard.Load())
}

// end ends the session; the first cause counts.
func (s *session) end(c Cause) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cause != nil {
		return
	}
	s.cause = &c
	close(s.over)
}

// ended reports whether the session has ended; its handler may not know yet.
func (s *session) ended() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// run serves the session and returns why it ended. The handler hears of it being up first and of it being down last.
func (s *session) run(ctx context.Context) Cause {
	h := s.link.host
	h.log.Info("peer up", zap.Stringer("peer", s.peer.ID), zap.Stringer("member", s.peer.Member),
		zap.Uint8("version", s.peer.Version), zap.Stringer("address", s.stream.Conn().RemoteMultiaddr()))
	told := make(chan struct{})
	go func() { defer close(told); s.tell(ctx) }()
	inside, cancel := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() { s.read(inside) })
	parts.Go(s.write)
	parts.Go(s.keepWatch)
	parts.Go(func() { s.keepKnocking(inside) })
	parts.Go(func() { s.keepMeasuring(inside) })
	select {
	case <-ctx.Done():
		s.end(Cause{Kind: CauseStopped})
	case <-s.over:
	}
	cancel()
	if s.cause.Kind == CauseGivenUp {
		s.hangUp() // first: what is being written to a dead connection waits for it
	}
	s.closeStreams()
	// The writer says goodbye within its deadline and closes the stream, which ends the reader, too.
	parts.Wait()
	linger(s.stream)
	resetWith(s.stream, CodeShutdown) // both directions have ended; this frees it
	s.inbox.close()
	<-told
	h.log.Info("peer down", zap.Stringer("peer", s.peer.ID), zap.Stringer("member", s.peer.Member), zap.Stringer("cause", *s.cause))
	h.handler.PeerDown(s.peer, *s.cause)
	return *s.cause
}

// send encodes and queues a message.
func (s *session) send(m wire.Message) error {
	b, err := s.out.encode(m)
	if err != nil {
		return err
	}
	if s.ended() {
		return ErrNotUp
	}
	select {
	case s.queue <- b:
		return nil
	default:
		return fmt.Errorf("%w: %d messages", ErrQueueFull, cap(s.queue))
	}
}

// read takes messages until the stream or the session ends.
func (s *session) read(ctx context.Context) {
	perSec := s.link.host.cfg.Limits.ControlPerSec
	pace := rate.NewLimiter(rate.Limit(perSec), perSec)
	for {
		m, err := s.in.Read()
		if ctx.Err() == nil && err == nil {
			s.touch()
			err = s.take(m)
		}
		if err != nil {
			s.end(readCause(err))
			return
		}
		// A peer that sends too fast waits in its own send buffer.
		if pace.Wait(ctx) != nil {
			linger(s.stream)
			return
		}
	}
}

// linger reads and forgets until the peer has taken our last message and ends the stream, or the deadline that part set
// passes: to reset the stream at once would overtake that message.
func linger(stream network.Stream) { _, _ = io.Copy(io.Discard, stream) }

// partedError is a goodbye or an error message from the peer, which ends the session.
type partedError struct{ cause Cause }

func (e *partedError) Error() string { return e.cause.String() }

// readCause sorts what ended the reader or the writer.
func readCause(err error) Cause {
	var parted *partedError
	var reset *network.StreamError
	switch {
	case errors.As(err, &parted):
		return parted.cause
	case breach(err) != nil:
		return Cause{Kind: CauseProtocol, Err: err}
	case errors.As(err, &reset) && reset.Remote && reset.ErrorCode == CodeReplaced:
		return Cause{Kind: CauseReplaced}
	case errors.Is(err, io.EOF):
		return Cause{Kind: CauseEnded}
	}
	return Cause{Kind: CauseEnded, Err: err}
}

// take acts on one message.
func (s *session) take(m wire.Message) error {
	switch m := m.(type) {
	case *wire.Heartbeat:
		return s.takeBeat(m)
	case *wire.Credit:
		return s.takeCredit(m)
	case *wire.Goodbye:
		return s.takeGoodbye(m)
	case *wire.Error:
		return &partedError{Cause{Kind: CauseProtocol, Err: fmt.Errorf("the peer says that we broke it: %s: %s", m.Code, printable(m.Text, maxReason))}}
	case *wire.Hello, *wire.Attach:
		return &PeerError{Place: "control stream", Got: m.Kind().String(), Expected: "a message of a session"}
	}
	s.judging.Lock()
	s.settle(time.Now())
	s.judging.Unlock()
	return s.deliver(m)
}

// deliver puts a message into the inbox. While that is full nothing more is read: the peer's messages fill its own queue,
// and it is not taken for silent. A handler that takes nothing for as long as a silent peer is given ends the session.
func (s *session) deliver(m wire.Message) error {
	if s.inbox.put(m) {
		return nil
	}
	s.waiting.Store(true)
	defer s.waiting.Store(false)
	defer s.touch()
	late := time.NewTimer(s.link.host.cfg.Abandon)
	defer late.Stop()
	for !s.inbox.put(m) {
		select {
		case <-s.inbox.room:
		case <-s.over:
			return ErrNotUp
		case <-late.C:
			return &partedError{Cause{Kind: CauseOverloaded, Err: fmt.Errorf("%d messages wait for this node to act on them", s.link.host.cfg.Queue)}}
		}
	}
	return nil
}

// tell calls the handler, one call after the other, until the inbox is closed and empty. When the node stops, what waits is
// dropped.
func (s *session) tell(ctx context.Context) {
	h := s.link.host.handler
	h.PeerUp(s.peer)
	for {
		e, streams, ok := s.inbox.take()
		switch {
		case !ok:
			return
		case ctx.Err() != nil:
		case e.message != nil:
			h.Control(s.peer, e.message)
		case e.beat:
			h.Heard(s.peer, streams)
		case e.doubt != nil:
			h.PeerDown(s.peer, *e.doubt)
		case e.up:
			p := s.peer
			p.Resumed = true
			h.PeerUp(p)
		}
	}
}

func (s *session) takeGoodbye(m *wire.Goodbye) error {
	c := Cause{Kind: CauseLeft, Err: fmt.Errorf("%s: %s", m.Reason, printable(m.Detail, maxReason))}
	if m.Reason == wire.PartingNoVersion {
		c.Kind = CauseVersion
	}
	return &partedError{c}
}
