package fragment

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"fednode/node/flow"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// Runner runs one fragment.
type Runner struct {
	// Fixed after Open.
	cfg     Config
	outputs []*flow.Output
	start   []tuple.Position // of each input

	// Owned by the run loop.
	inst     *query.Instance
	unions   []*sunion.SUnion
	feeds    [][]feed // of each input: which SUnions it enters, and where
	numbers  []*sunion.SOutput
	inputs   []*input
	released tuple.Time
	age      int64 // of the bucket being released

	// arrivals brings what the pullers have got.
	arrivals chan arrival
	// ask brings requests for the status to the loop.
	ask chan chan<- Status

	mu     sync.Mutex
	status Status // the last one that the loop gave
}

// feed is one place where an input enters an SUnion.
type feed struct{ union, input int }

// arrival is what an input's puller hands to the run loop.
type arrival struct {
	input int
	at    time.Time
	frame *tuple.Frame
	event *flow.InletEvent // a change of the connection, instead of a frame
}

// out gives the operators' results to SOutput and the outputs.
type out struct{ r *Runner }

// Batch numbers a borrowed batch and keeps it.
func (o out) Batch(n int, b *tuple.Batch) error {
	if f := o.r.numbers[n].Batch(b); f != nil {
		o.r.outputs[n].Append(f)
	}
	return nil
}

// Boundary passes on how far an output is complete.
func (o out) Boundary(n int, t tuple.Time) error {
	if f := o.r.numbers[n].Boundary(t, o.r.age); f != nil {
		o.r.outputs[n].Append(f)
	}
	return nil
}

// Outputs returns the streams that the fragment produces. They can be opened at once and are closed when Run returns.
func (r *Runner) Outputs() []*flow.Output { return r.outputs }

// Run runs the fragment until ctx ends, and then stores a last recovery point. It fails if an operator does: a broken
// limit is an *query.OperatorError around an *op.LimitError.
func (r *Runner) Run(ctx context.Context) error {
	defer func() {
		for _, o := range r.outputs {
			o.Close()
		}
	}()
	loop := newLoop(r)
	var pullers sync.WaitGroup
	pullCtx, stop := context.WithCancel(ctx)
	defer pullers.Wait()
	defer stop()
	for n := range r.inputs {
		pullers.Go(func() { r.pull(pullCtx, n) })
	}
	err := loop.run(ctx)
	if err != nil {
		r.fail(err)
	}
	return err
}

// file files what has arrived.
func (r *Runner) file(a arrival) error {
	in := r.inputs[a.input]
	in.note(a)
	if a.event != nil {
		return nil
	}
	for _, f := range r.feeds[a.input] {
		u := r.unions[f.union]
		switch a.frame.Kind {
		case tuple.Insertion:
			if err := u.Insert(f.input, a.frame); err != nil {
				return fmt.Errorf("stream %s: %w", in.stream, err)
			}
		case tuple.Boundary:
			u.Boundary(f.input, a.frame.Time)
		case tuple.Gap:
			u.Gap(f.input, a.frame.Generation, a.frame.FirstID)
		}
	}
	if a.frame.Kind == tuple.Gap {
		r.gap(in.stream, a.frame)
	}
	return nil
}

// gap passes on that stable tuples of an input are lost: every output that depends on it says so.
func (r *Runner) gap(stream string, f *tuple.Frame) {
	r.cfg.Log.Warn("input has a gap", zap.String("fragment", r.cfg.Name), zap.String("stream", stream), zap.String("reason", f.Reason))
	for n, o := range r.outputs {
		s := r.numbers[n].State()
		o.Append(&tuple.Frame{Kind: tuple.Gap, Generation: s.Generation, FirstID: s.Next - 1, Time: f.Time, To: f.To, Reason: stream + ": " + f.Reason})
	}
}

// stable returns the end of the last bucket that is complete in every SUnion.
func (r *Runner) stable() tuple.Time {
	low := tuple.MaxTime
	for _, u := range r.unions {
		low = min(low, u.Stable())
	}
	return low
}

// advance releases what is complete and pushes it through the operators. It stops at full outputs, between buckets.
func (r *Runner) advance(now time.Time) error {
	to := r.stable()
	if to <= r.released || r.full() != nil {
		return nil
	}
	r.age = r.oldest(now)
	for n, u := range r.unions {
		if err := u.Release(to, func(b *tuple.Batch) error { return r.inst.Process(n, b) }); err != nil {
			return err
		}
	}
	r.released = to
	for n := range r.unions {
		if err := r.inst.Boundary(n, to); err != nil {
			return err
		}
	}
	return nil
}

// oldest returns the age of the bucket about to leave: the largest that an input's boundary carried, plus its time here.
func (r *Runner) oldest(now time.Time) int64 {
	age := int64(0)
	for _, in := range r.inputs {
		if !in.boundaryAt.IsZero() {
			age = max(age, in.boundaryAge+now.Sub(in.boundaryAt).Microseconds())
		}
	}
	return age
}

// full returns a channel that is closed when room may have been made, nil if no output is full.
func (r *Runner) full() <-chan struct{} {
	for _, o := range r.outputs {
		if full, changed := o.Full(); full {
			return changed
		}
	}
	return nil
}

func (r *Runner) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.Failure = err.Error()
}
