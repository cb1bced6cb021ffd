package local

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"fednode/node/connect"
	"fednode/query"
	"fednode/query/tuple"
)

// runner is one run.
type runner struct {
	plan    *query.Plan
	opt     Options
	streams []*stream
	byName  map[string]*stream
	engines []*engine
	sinks   []*sink
	sides   []*aside
	rows    uint64
	high    tuple.Time
	showed  time.Time
}

// open opens everything and wires it up.
func (r *runner) open(ctx context.Context) error {
	outputs := make(map[string][]target) // what reads each stream that a fragment or source makes
	for _, o := range r.plan.Outputs {
		s, err := r.openSink(ctx, o.Output)
		if err != nil {
			return err
		}
		outputs[o.Stream] = append(outputs[o.Stream], target{sink: s})
	}
	for _, f := range r.plan.Fragments {
		e, err := newEngine(f)
		if err != nil {
			return err
		}
		r.engines = append(r.engines, e)
		for n, u := range f.Unions {
			for k, in := range u.Inputs {
				name := f.Inputs[in].Stream
				outputs[name] = append(outputs[name], target{engine: e, union: n, input: k})
			}
		}
	}
	for n, f := range r.plan.Fragments {
		for k, o := range f.Outputs {
			r.engines[n].to[k] = outputs[o.Stream]
		}
	}
	if err := r.openStreams(ctx, outputs); err != nil {
		return err
	}
	return r.openSides(ctx)
}

// openStreams opens the sources that something reads.
func (r *runner) openStreams(ctx context.Context, readers map[string][]target) error {
	for _, d := range r.plan.Diagram.Streams {
		name := d.StreamName(r.plan.Placement.Home.Org, r.plan.Diagram.Settings.Name)
		if len(readers[name]) == 0 {
			continue
		}
		s, err := r.openStream(ctx, d, name)
		if err != nil {
			return err
		}
		s.route(readers[name])
		r.streams = append(r.streams, s)
		if s.unbounded() && s.needsOrder() {
			r.sortFromNow(s)
		}
	}
	return nil
}

func (r *runner) openSink(ctx context.Context, o *query.Output) (*sink, error) {
	decl, ok := r.opt.Connectors.Sinks[o.Name]
	if !ok {
		return nil, fmt.Errorf("output %s: it has no sink here; give one with --sink %s=PATH", o.Name, o.Name)
	}
	s := &sink{decl: o, ctx: ctx, to: decl.New(o, "", true, r.opt.Env), target: decl.Plan.Detail}
	r.sinks = append(r.sinks, s)
	if _, err := s.to.Recover(ctx, nil); err != nil {
		return nil, fmt.Errorf("output %s: %w", o.Name, err)
	}
	return s, nil
}

// run goes on with the stream that is furthest behind, always, so that little waits for it.
func (r *runner) run(ctx context.Context) error {
	for {
		s := r.furthestBehind()
		switch {
		case s == nil:
			return r.advance()
		case ctx.Err() != nil:
			return ctx.Err()
		case s.sorted != nil:
			if err := r.takeSorted(s); err != nil {
				return fmt.Errorf("stream %s: %w", s.decl.Name, err)
			}
			continue
		}
		select {
		case b, ok := <-s.blocks:
			if !ok && s.failure != nil {
				return s.failure
			}
			if !ok {
				return fmt.Errorf("stream %s: the source stopped without an end", s.decl.Name)
			}
			if err := r.block(s, b); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (r *runner) furthestBehind() *stream {
	var low *stream
	for _, s := range r.streams {
		if !s.ended && (low == nil || s.boundary < low.boundary) {
			low = s
		}
	}
	return low
}

// block takes one block of a stream.
func (r *runner) block(s *stream, b *connect.Block) error {
	now := r.opt.Env.Time().Now()
	rows, err := s.decide(b, now)
	if err != nil {
		return err
	}
	if rows != nil {
		r.rows += uint64(rows.Rows())
		r.high = max(r.high, s.decider.State().High)
		if err := r.give(s, rows); err != nil {
			return err
		}
	}
	if b.Status.State == connect.Ended {
		s.end = b.Status
		if s.sorter != nil {
			s.sorted, s.stop = iter.Pull2(s.sorter.all())
		} else {
			s.finish()
		}
	}
	for _, t := range s.engines {
		t.engine.bound(t, s.boundary)
	}
	r.show(now)
	return r.advance()
}

// advance lets every fragment go on, upstream first.
func (r *runner) advance() error {
	for _, e := range r.engines {
		if err := e.advance(); err != nil {
			return err
		}
	}
	return nil
}

func (r *runner) show(now time.Time) {
	if r.opt.Progress != nil && now.Sub(r.showed) >= 200*time.Millisecond {
		r.showed = now
		r.opt.Progress(Progress{Rows: r.rows, Time: r.high})
	}
}

// finish makes the results visible.
func (r *runner) finish(ctx context.Context) error {
	for _, s := range r.sinks {
		if err := s.finish(ctx); err != nil {
			return err
		}
	}
	return r.finishSides(ctx)
}

func (r *runner) close() error {
	var errs []error
	for _, s := range r.streams {
		errs = append(errs, s.reader.Close())
		if s.sorter != nil {
			s.stop()
			errs = append(errs, s.sorter.close())
		}
	}
	for _, s := range r.sinks {
		if !s.done {
			errs = append(errs, s.to.Close())
		}
	}
	return errors.Join(append(errs, r.closeSides())...)
}

func (r *runner) report(wall time.Duration) *Report {
	rep := &Report{Query: r.plan.Diagram.Settings.Name, Wall: wall}
	for _, s := range r.streams {
		rep.Streams = append(rep.Streams, s.report())
	}
	for _, s := range r.sinks {
		rep.Outputs = append(rep.Outputs, OutputReport{Name: s.decl.Name, Rows: s.rows, Target: s.target})
	}
	for _, e := range r.engines {
		for _, o := range e.inst.Status().Operators {
			rep.DivByZero += o.Counters.DivByZero
			rep.Overflow += o.Counters.Overflow
		}
	}
	return rep
}
