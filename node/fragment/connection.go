package fragment

import (
	"context"
	"errors"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// tokens is how many frames of one connection may be on their way to the run loop. A connection of an input that is held
// keeps its tokens, and so stops its producer.
const tokens = 8

// input is one stream that enters the fragment.
type input struct {
	// Fixed.
	n         int
	stream    string
	schema    *tuple.Schema
	producers []string
	latest    func() tuple.Time // nil sets no limit
	durable   tuple.Position

	// Owned by the run loop.
	rows  uint64
	cause string // why it cannot be had; "" while it can
	// lackedAt is since when, in vain until now; lacking says that the log has been told.
	lackedAt dcaa.Instant
	lacking  bool
}

// connKey names a connection; numbers count in each input.
type connKey struct {
	input int
	conn  uint64
}

// connection is one subscription of an input, at one producer.
type connection struct {
	key    connKey
	cancel context.CancelFunc
	tokens chan struct{}
	owed   int // tokens to give back when the input is no longer held
}

// arrival is what a connection hands to the run loop.
type arrival struct {
	from *connection
	kind arrivalKind
	// frame of a frame, cause of an end.
	frame *tuple.Frame
	cause error
}

type arrivalKind uint8

const (
	opened arrivalKind = iota
	delivered
	refused // before it was opened
	ended   // after
)

// Open subscribes to an input at a producer.
func (r *Runner) Open(n int, o dcaa.Opening) {
	in := r.inputs[n]
	ctx, cancel := context.WithCancel(r.ctx)
	c := &connection{key: connKey{n, o.Conn}, cancel: cancel, tokens: make(chan struct{}, tokens)}
	for range tokens {
		c.tokens <- struct{}{}
	}
	r.conns[c.key] = c
	s := flow.Subscriber{Name: r.cfg.Subscriber, From: o.From, Durable: in.durable, Schema: in.schema, Counted: true,
		Tentative: o.Tentative, TentativeFrom: o.TentativeFrom}
	producer := in.producers[o.Producer]
	if o.Because != "" {
		r.cfg.Log.Info("an input is read from another replica", zap.String("fragment", r.cfg.Name), zap.String("input", in.stream),
			zap.String("producer", producer), zap.String("left_because", o.Because))
	}
	r.pullers.Go(func() { r.pull(ctx, c, in, producer, s) })
}

// Close ends a connection.
func (r *Runner) Close(n int, conn uint64) {
	k := connKey{n, conn}
	if c := r.conns[k]; c != nil {
		c.cancel()
		delete(r.conns, k)
	}
}

// pull opens a stream and hands its frames to the run loop until ctx ends or the stream does.
func (r *Runner) pull(ctx context.Context, c *connection, in *input, producer string, s flow.Subscriber) {
	cursor, err := r.cfg.Network.OpenFrom(ctx, producer, in.stream, s)
	if err != nil {
		r.arrive(ctx, arrival{from: c, kind: refused, cause: err})
		return
	}
	defer cursor.Close()
	if !r.arrive(ctx, arrival{from: c, kind: opened}) {
		return
	}
	for {
		select {
		case <-c.tokens:
		case <-ctx.Done():
			return
		}
		f, err := cursor.Next(ctx)
		if err == nil && in.latest != nil {
			err = punctual(in.stream, f, in.latest())
		}
		if err != nil {
			r.arrive(ctx, arrival{from: c, kind: ended, cause: err})
			return
		}
		if !r.arrive(ctx, arrival{from: c, kind: delivered, frame: f}) {
			return
		}
	}
}

// arrive hands something to the run loop; false if ctx ended first.
func (r *Runner) arrive(ctx context.Context, a arrival) bool {
	select {
	case r.arrivals <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// take hands an arrival to the core.
func (r *Runner) take(a arrival) (bytes int64) {
	k := a.from.key
	if r.conns[k] != a.from {
		return 0 // closed meanwhile
	}
	now, in := r.now(), r.inputs[k.input]
	switch a.kind {
	case opened:
		r.say(in, nil)
		r.core.Opened(now, k.input, k.conn)
	case delivered:
		a.from.owed++
		if a.frame.Kind == tuple.Insertion {
			in.rows += uint64(a.frame.Batch.Rows())
		}
		if err := r.core.Frame(now, k.input, k.conn, a.frame); err != nil {
			r.say(in, err)
		}
		return dcaa.FrameBytes(a.frame)
	case refused:
		r.say(in, a.cause)
		var gone *dcaa.TruncatedError
		if errors.As(a.cause, &gone) {
			r.core.Truncated(now, k.input, k.conn, gone.First)
		} else {
			r.core.Refused(now, k.input, k.conn)
		}
	case ended:
		r.say(in, a.cause)
		r.core.Closed(now, k.input, k.conn)
	}
	return 0
}

// say notes why an input cannot be had.
func (r *Runner) say(in *input, cause error) {
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	if text == in.cause {
		return
	}
	if in.cause == "" {
		in.lackedAt = r.now()
	}
	in.cause = text
	if text == "" && in.lacking {
		in.lacking = false
		r.cfg.Log.Info("input is there again", zap.String("fragment", r.cfg.Name), zap.String("stream", in.stream))
	}
}

// lackFor is how long an input cannot be had until the log is told, in microseconds. While a query begins its hosts do not
// know it at the same moment, and refuse what they do not know; a replica that restarts is replaced by another.
const lackFor = 3_000_000

// complain logs the inputs that have not been there for long, once each.
func (r *Runner) complain() {
	now := r.now()
	for _, in := range r.inputs {
		if in.cause == "" || in.lacking || int64(now-in.lackedAt) < lackFor {
			continue
		}
		in.lacking = true
		r.cfg.Log.Info("input cannot be had", zap.String("fragment", r.cfg.Name), zap.String("stream", in.stream), zap.String("error", in.cause))
	}
}

// settle gives tokens back, unless an input is held.
func (r *Runner) settle() {
	for k, c := range r.conns {
		if c.owed == 0 || r.core.Held(k.input) {
			continue
		}
		for ; c.owed > 0; c.owed-- {
			c.tokens <- struct{}{}
		}
	}
}

// punctual refuses what would push the clock of everything downstream. It drops nothing: whether a row is taken must not
// depend on our clock, or two replicas would differ; only when it is taken may.
func punctual(stream string, f *tuple.Frame, latest tuple.Time) error {
	t := tuple.MinTime
	switch f.Kind {
	case tuple.Insertion, tuple.Tentative:
		for n := range f.Batch.Rows() {
			t = max(t, f.Batch.Time[f.Batch.Row(n)])
		}
	case tuple.Boundary, tuple.TentativeBoundary:
		if t = f.Time; t == tuple.MaxTime {
			return nil // an end is no time
		}
	}
	if t > latest {
		return &flow.FutureError{Stream: stream, Time: t, Latest: latest}
	}
	return nil
}
