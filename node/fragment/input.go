package fragment

import (
	"context"
	"time"

	"fednode/node/flow"
	"fednode/query/tuple"
)

// tokens is how many frames of one input may be on their way to the run loop. An input that is held keeps its tokens,
// and so stops its producer.
const tokens = 8

// input is one stream that enters the fragment.
type input struct {
	// Fixed.
	stream string
	tokens chan struct{}

	// Owned by the run loop.
	boundary    tuple.Time
	boundaryAge int64
	boundaryAt  time.Time
	rows        uint64
	owed        int // tokens to give back when the input is no longer held
	connected   bool
	cause       string
}

func newInput(stream string) *input {
	in := &input{stream: stream, tokens: make(chan struct{}, tokens), boundary: tuple.MinTime}
	for range tokens {
		in.tokens <- struct{}{}
	}
	return in
}

// pull hands frames, and changes of the connection, to the run loop until ctx ends.
func (r *Runner) pull(ctx context.Context, n int, to chan<- arrival) {
	in := r.inputs[n]
	send := func(a arrival) bool {
		a.input, a.at = n, r.cfg.Clock.Now()
		select {
		case to <- a:
			return true
		case <-ctx.Done():
			return false
		}
	}
	s := flow.Subscriber{Name: r.cfg.Subscriber, From: r.start[n], Counted: true}
	inlet := flow.NewInlet(r.cfg.Directory, in.stream, s, func(e flow.InletEvent) { send(arrival{event: &e}) })
	defer inlet.Close()
	for {
		select {
		case <-in.tokens:
		case <-ctx.Done():
			return
		}
		f, err := inlet.Next(ctx)
		if err != nil || !send(arrival{frame: f}) {
			return // ctx has ended
		}
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
