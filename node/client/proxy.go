package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/query/tuple"
)

// Positions keeps how far a sink has taken a stream, and the sink's own state.
type Positions interface {
	// LoadPosition returns what the last SavePosition stored; ok is false if there is nothing.
	LoadPosition(stream, client string) (at tuple.Position, state []byte, ok bool, err error)
	SavePosition(stream, client string, at tuple.Position, state []byte) error
}

// Config of a client proxy.
type Config struct {
	// Upstream says what to deliver and who gives it; Name is the subscriber's name, the same over restarts.
	Upstream
	Name string
	// NewSink makes the sink; after a failure a new one is made and recovered.
	NewSink func() connect.Sink
	// Bounded results are finished when the stream ends.
	Bounded bool
	// Tentative: the sink is a connect.TaggingSink and takes tentative results too.
	Tentative bool
	Positions Positions
	Log       *zap.Logger
	// CommitInterval is how often what was written is made durable and acknowledged; 0 means 1 s.
	CommitInterval time.Duration
	// CommitRows commits earlier, after so many rows; 0 means 262,144.
	CommitRows uint64
}

// Proxy delivers one stream to one sink.
type Proxy struct {
	cfg Config

	// Owned by Run.
	sink      connect.Sink
	pos       tuple.Position // of what the sink has taken
	committed tuple.Position
	unsaved   uint64 // rows written since the last commit
	touched   bool   // something else has been written since

	mu     sync.Mutex
	status Status
	in     *Subscription // the present one; nil before the first
}

// Status is a copy of how a proxy stands.
type Status struct {
	Stream    string
	Name      string
	Connected bool
	Producer  string // that it is read from, "" if there is none
	// State is what the producer says of the stream, 0 while it has said nothing; Since is when that was first heard.
	State     dcaa.State
	Since     time.Time
	Cause     string // why not connected
	Failure   string // what keeps the sink from taking rows; "" if nothing does
	At        tuple.Position
	Committed tuple.Position
	Rows      uint64 // stable ones delivered since this start
	Tentative uint64 // tentative ones
	Gaps      uint64
	// Diverged are producers that are not read from because they gave other rows than another one.
	Diverged []string
	Done     bool // the stream has ended and the sink has been finished
}

// New returns a proxy that has not started.
func New(cfg Config) *Proxy {
	if cfg.CommitInterval == 0 {
		cfg.CommitInterval = time.Second
	}
	if cfg.CommitRows == 0 {
		cfg.CommitRows = 1 << 18
	}
	return &Proxy{cfg: cfg, status: Status{Stream: cfg.Stream, Name: cfg.Name}}
}

// Retry times after a failure of the sink; one that lasts until somebody mends it is tried again after retryLasting.
const (
	retryFirst   = 100 * time.Millisecond
	retryLast    = 5 * time.Second
	retryLasting = 15 * time.Second
)

// stopTime is what the last commit of a proxy that is told to stop may take: what it would have made durable comes again.
const stopTime = 5 * time.Second

// Run delivers until ctx ends, or the stream has ended. A sink that fails is closed and recovered at its last commit,
// again and again: the producer keeps what is not acknowledged. It returns an error if another writer has taken its place.
func (p *Proxy) Run(ctx context.Context) error {
	delay := retryFirst
	for {
		before := p.committed
		err := p.deliver(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if p.committed != before {
			delay = retryFirst
		}
		wait, final := p.failed(err, delay)
		if final {
			return err
		}
		select {
		case <-p.cfg.Clock.After(wait):
		case <-ctx.Done():
			return nil
		}
		delay = min(2*delay, retryLast)
	}
}

// failed notes why the sink takes no rows, and returns when to try it again, if ever.
func (p *Proxy) failed(err error, delay time.Duration) (wait time.Duration, final bool) {
	fields := []zap.Field{zap.String("stream", p.cfg.Stream), zap.String("client", p.cfg.Name), zap.Error(err)}
	lasting, ok := errors.AsType[*connect.LastingError](err)
	switch {
	case ok && lasting.Final:
		p.cfg.Log.Error("sink ended", fields...)
		p.note(func(s *Status) { s.Failure = "ended: " + err.Error() })
		return 0, true
	case ok:
		p.cfg.Log.Error("sink failed, and trying again alone does not mend it; it will go on from its last commit", fields...)
		p.note(func(s *Status) { s.Failure = "trying again alone does not mend this: " + err.Error() })
		delay = retryLasting
	default:
		p.cfg.Log.Warn("sink failed; going on from its last commit", fields...)
		p.note(func(s *Status) { s.Failure = err.Error() })
	}
	// Many sinks may have lost one database: they should not all come back to it at once.
	return delay - time.Duration(rand.Int64N(int64(delay)/4)), false
}

// Status returns how the proxy stands.
func (p *Proxy) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Accept lets the sink be fed again by a producer that has diverged. It does not block; Status shows when it is done.
func (p *Proxy) Accept(producer string) {
	p.cfg.Log.Warn("a replica that gave other rows is read from again, as an operator wishes", zap.String("stream", p.cfg.Stream), zap.String("producer", producer))
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.in != nil {
		p.in.Accept(producer)
	}
}

func (p *Proxy) note(change func(*Status)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.status)
}

// deliver recovers the sink and feeds it until the stream ends (nil), ctx ends, or the sink fails.
func (p *Proxy) deliver(ctx context.Context) (err error) {
	at, state, known, err := p.cfg.Positions.LoadPosition(p.cfg.Stream, p.cfg.Name)
	if err != nil {
		return err
	}
	if known && at.Time == tuple.MaxTime { // the stream had ended, and the sink has all of it
		p.cfg.Network.Ack(p.cfg.Stream, p.cfg.Name, p.cfg.Producers, at)
		p.note(func(s *Status) { s.Done, s.At, s.Committed = true, at, at })
		return nil
	}
	p.sink = p.cfg.NewSink()
	if claiming, ok := p.sink.(connect.ClaimingSink); ok && !known {
		at, state, known = tuple.Position{Time: tuple.MinTime}, claiming.Claim(), true
		if err := p.cfg.Positions.SavePosition(p.cfg.Stream, p.cfg.Name, at, state); err != nil {
			return errors.Join(err, p.sink.Close())
		}
	}
	if p.pos, err = p.sink.Recover(ctx, state); err != nil {
		return errors.Join(fmt.Errorf("recover: %w", err), p.sink.Close())
	}
	if !known {
		p.pos.Time = tuple.MinTime
	}
	// What the sink has and we did not know is still to be stored and acknowledged.
	p.touched = known && p.pos != at
	if known && p.pos.Compare(at) < 0 {
		p.cfg.Log.Warn("the sink's target has been put back behind what was committed; going on from there, and what no replica has any more will be missing",
			zap.String("stream", p.cfg.Stream), zap.String("client", p.cfg.Name), zap.Stringer("committed", at), zap.Stringer("found", p.pos))
	}
	if known && p.cfg.Tentative {
		// What a life before has written tentatively is not known any more.
		if err := p.correct(ctx, &tuple.Frame{Kind: tuple.Undo, Time: tuple.MinTime}); err != nil {
			return errors.Join(err, p.sink.Close())
		}
	}
	p.committed, p.unsaved = p.pos, 0
	p.note(func(s *Status) { s.At, s.Committed = p.pos, p.pos })
	defer func() { err = errors.Join(err, p.sink.Close()) }()

	in := Subscribe(Request{Upstream: p.cfg.Upstream, Name: p.cfg.Name, From: p.pos, Counted: true, Latest: p.cfg.Tentative, Report: p.link})
	p.mu.Lock()
	p.in = in
	p.mu.Unlock()
	pullCtx, stop := context.WithCancel(ctx)
	frames := make(chan *tuple.Frame, 4)
	var puller sync.WaitGroup
	puller.Go(func() { pull(pullCtx, in, frames) })
	defer puller.Wait()
	defer stop()
	return p.feed(ctx, in, frames)
}

func pull(ctx context.Context, in *Subscription, to chan<- *tuple.Frame) {
	defer in.Close()
	for {
		f, err := in.Next(ctx)
		if err != nil {
			return // ctx has ended
		}
		select {
		case to <- f:
		case <-ctx.Done():
			return
		}
	}
}

func (p *Proxy) link(l Link) {
	p.note(func(s *Status) {
		for _, name := range l.Diverged {
			if !slices.Contains(s.Diverged, name) {
				p.cfg.Log.Error("DIVERGED: replicas gave different rows", zap.String("stream", s.Stream), zap.String("ignored", name))
			}
		}
		s.Connected, s.Producer, s.Cause, s.Diverged = l.Producer != "", l.Producer, "", l.Diverged
		if l.State != s.State {
			s.State, s.Since = l.State, p.cfg.Clock.Now()
		}
		if l.Cause != nil {
			s.Cause = l.Cause.Error()
		}
	})
}

// feed hands frames to the sink.
func (p *Proxy) feed(ctx context.Context, in *Subscription, frames <-chan *tuple.Frame) error {
	if p.pos.Time == tuple.MaxTime {
		return p.finish(ctx, in)
	}
	commit := p.cfg.Clock.After(p.cfg.CommitInterval)
	for {
		select {
		case f := <-frames:
			if err := p.frame(ctx, f); err != nil {
				return err
			}
			if p.pos.Time == tuple.MaxTime {
				return p.finish(ctx, in)
			}
			if p.unsaved < p.cfg.CommitRows {
				continue
			}
		case <-commit:
			commit = p.cfg.Clock.After(p.cfg.CommitInterval)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
			defer cancel()
			return p.commit(last, in)
		}
		if err := p.commit(ctx, in); err != nil {
			return err
		}
	}
}

// frame gives the sink what a frame brings.
func (p *Proxy) frame(ctx context.Context, f *tuple.Frame) error {
	switch f.Kind {
	case tuple.Insertion:
		rows := connect.SinkRows{Batch: f.Batch, Generation: f.Generation, FirstID: f.FirstID, IDs: f.IDs}
		if err := p.sink.Write(ctx, rows); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		p.pos.Generation, p.pos.ID = f.Generation, f.LastID
		n := uint64(f.Batch.Rows())
		p.unsaved += n
		p.note(func(s *Status) { s.Rows += n; s.At = p.pos; s.Failure = "" })
	case tuple.Boundary:
		p.pos.Time = f.Time
		p.note(func(s *Status) { s.At = p.pos })
	case tuple.Gap:
		p.cfg.Log.Warn("stable tuples are lost", zap.String("stream", p.cfg.Stream), zap.Stringer("gap", f))
		p.pos.Generation, p.pos.ID = f.Generation, f.FirstID
		p.note(func(s *Status) { s.Gaps++; s.At = p.pos })
	case tuple.Tentative, tuple.Undo, tuple.RecDone:
		return p.correct(ctx, f)
	}
	return nil
}

// correct gives the sink tentative rows, or word of what became of them.
func (p *Proxy) correct(ctx context.Context, f *tuple.Frame) (err error) {
	to, ok := p.sink.(connect.TaggingSink)
	if !ok {
		return errors.New("the sink cannot mark tentative rows")
	}
	p.touched = true
	switch f.Kind {
	case tuple.Undo:
		err = to.Undo(ctx, f.Time)
	case tuple.RecDone:
		err = to.Done(ctx, f.Time)
	default:
		n := uint64(f.Batch.Rows())
		p.unsaved += n
		p.note(func(s *Status) { s.Tentative += n })
		err = to.WriteTentative(ctx, f.Batch)
	}
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return nil
}

// commit makes durable what was written, keeps the position with the sink's state, and acknowledges it.
func (p *Proxy) commit(ctx context.Context, in *Subscription) error {
	if p.pos == p.committed && !p.touched {
		return nil
	}
	state, err := p.sink.Commit(ctx, p.pos)
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := p.cfg.Positions.SavePosition(p.cfg.Stream, p.cfg.Name, p.pos, state); err != nil {
		return err
	}
	p.committed, p.unsaved, p.touched = p.pos, 0, false
	in.Ack(p.pos)
	p.note(func(s *Status) { s.Committed, s.Failure = p.pos, "" })
	return nil
}

// finish commits the end of the stream and, for a bounded result, makes it visible as a whole.
func (p *Proxy) finish(ctx context.Context, in *Subscription) error {
	if !p.cfg.Bounded {
		err := p.commit(ctx, in)
		if err == nil {
			p.note(func(s *Status) { s.Done = true })
		}
		return err
	}
	if err := p.sink.Finish(ctx); err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	if err := p.cfg.Positions.SavePosition(p.cfg.Stream, p.cfg.Name, p.pos, nil); err != nil {
		return err
	}
	in.Ack(p.pos)
	p.note(func(s *Status) { s.Done = true; s.At, s.Committed = p.pos, p.pos })
	return nil
}
