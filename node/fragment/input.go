package fragment

import (
	"context"
	"strings"
	"time"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query"
	"fednode/query/tuple"
)

// tokens is how many frames of one input may be on their way to the run loop. An input that is held keeps its tokens,
// and so stops its producer.
const tokens = 8

// input is one stream that enters the fragment.
type input struct {
	// Fixed.
	stream string
	inlet  *flow.Inlet
	tokens chan struct{}

	// Owned by the run loop.
	boundary    tuple.Time
	boundaryAge int64
	boundaryAt  time.Time
	rows        uint64
	bytes       int64 // of all rows
	owed        int   // tokens to give back when the input is no longer held
	connected   bool
	cause       string
}

// addInput makes the input that begins at r.start[n].
func (r *Runner) addInput(n int, plan query.FragmentInput) {
	in := &input{stream: plan.Stream, tokens: make(chan struct{}, tokens), boundary: tuple.MinTime}
	for range tokens {
		in.tokens <- struct{}{}
	}
	s := flow.Subscriber{Name: r.cfg.Subscriber, From: r.start[n], Schema: plan.Schema, Counted: true, Latest: r.latest(plan)}
	in.inlet = flow.NewInlet(r.cfg.Directory, plan.Stream, s, func(ctx context.Context, e flow.InletEvent) {
		r.arrive(ctx, arrival{input: n, event: &e})
	})
	r.inputs = append(r.inputs, in)
}

// latest returns what tells the largest stime that a stream of another organisation may bring, nil if that is not asked:
// our own source proxies have decided it already.
func (r *Runner) latest(in query.FragmentInput) func() tuple.Time {
	if in.Source == nil || in.Source.Rules.MaxFutureSkew == query.Unbounded || r.cfg.Own == "" || strings.HasPrefix(in.Stream, r.cfg.Own) {
		return nil
	}
	ahead := r.cfg.ClockSkew.Microseconds() + in.Source.Rules.MaxFutureSkew
	return func() tuple.Time { return tuple.TimeOf(r.cfg.Clock.Now()).Add(ahead) }
}

// pull hands frames, and changes of the connection, to the run loop until ctx ends.
func (r *Runner) pull(ctx context.Context, n int) {
	in := r.inputs[n]
	defer in.inlet.Close()
	for {
		select {
		case <-in.tokens:
		case <-ctx.Done():
			return
		}
		f, err := in.inlet.Next(ctx)
		if err != nil || !r.arrive(ctx, arrival{input: n, frame: f}) {
			return // ctx has ended
		}
	}
}

// arrive hands something to the run loop; false if ctx ended first.
func (r *Runner) arrive(ctx context.Context, a arrival) bool {
	a.at = r.cfg.Clock.Now()
	select {
	case r.arrivals <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// note keeps what the input's own state needs to know of an arrival.
func (in *input) note(a arrival) {
	if a.event != nil {
		in.connected, in.cause = a.event.Connected, ""
		if a.event.Cause != nil {
			in.cause = a.event.Cause.Error()
		}
		return
	}
	switch a.frame.Kind {
	case tuple.Insertion:
		in.rows += uint64(a.frame.Batch.Rows())
		in.bytes += dcaa.FrameBytes(a.frame)
	case tuple.Boundary:
		in.boundary, in.boundaryAge, in.boundaryAt = max(in.boundary, a.frame.Time), a.frame.Age, a.at
	}
	in.owed++
}

// settle gives the tokens back, unless the input is held.
func (in *input) settle(held bool) {
	if held {
		return
	}
	for ; in.owed > 0; in.owed-- {
		in.tokens <- struct{}{}
	}
}
