package local

import (
	"fednode/query"
	"fednode/query/tuple"
	"fednode/sunion"
)

// target is one place where the rows of a stream go: an input of an SUnion of a fragment, or a sink.
type target struct {
	engine *engine
	union  int
	input  int
	sink   *sink
}

// engine runs one fragment.
type engine struct {
	inst   *query.Instance
	unions []*union
	// to is where each output goes.
	to       [][]target
	released tuple.Time
	bucket   int64
}

// union is one SUnion, or what is left of it where order does not matter: then rows go straight to the operators, and
// only the boundaries are watched.
type union struct {
	ordered *sunion.SUnion // nil where order does not matter
	bounds  []tuple.Time   // of each input
	ids     []uint64       // last id of each input
}

func newEngine(f *query.FragmentPlan) (*engine, error) {
	e := &engine{released: tuple.MinTime, to: make([][]target, len(f.Outputs)), bucket: f.Bucket}
	for _, u := range f.Unions {
		un := &union{bounds: make([]tuple.Time, len(u.Inputs)), ids: make([]uint64, len(u.Inputs))}
		for i := range un.bounds {
			un.bounds[i] = tuple.MinTime
		}
		if !u.Unordered {
			var err error
			if un.ordered, err = sunion.New(sunion.Config{Schema: u.Schema, Inputs: len(u.Inputs), Bucket: f.Bucket}); err != nil {
				return nil, err
			}
		}
		e.unions = append(e.unions, un)
	}
	e.inst = query.NewInstance(f, e)
	return e, nil
}

// rows takes rows of a stream. They are owned if the union orders them.
func (e *engine) rows(t target, b *tuple.Batch) error {
	u := e.unions[t.union]
	if u.ordered == nil {
		return e.inst.Process(t.union, b)
	}
	first := u.ids[t.input] + 1
	u.ids[t.input] += uint64(b.Rows())
	return u.ordered.Insert(t.input, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: u.ids[t.input], Batch: b})
}

// bound takes a boundary of a stream.
func (e *engine) bound(t target, at tuple.Time) {
	u := e.unions[t.union]
	u.bounds[t.input] = max(u.bounds[t.input], at)
	if u.ordered != nil {
		u.ordered.Boundary(t.input, at)
	}
}

// advance hands on every bucket that is complete.
func (e *engine) advance() error {
	to := tuple.MaxTime
	for _, u := range e.unions {
		for _, b := range u.bounds {
			to = min(to, b)
		}
	}
	to = to.FloorTo(e.bucket, 0)
	if to <= e.released {
		return nil
	}
	for n, u := range e.unions {
		if u.ordered == nil {
			continue
		}
		if err := u.ordered.Release(to, func(b *tuple.Batch) error { return e.inst.Process(n, b) }); err != nil {
			return err
		}
	}
	e.released = to
	for n := range e.unions {
		if err := e.inst.Boundary(n, to); err != nil {
			return err
		}
	}
	return nil
}

// Batch gives the results of an output to what reads it. The batch is borrowed.
func (e *engine) Batch(output int, b *tuple.Batch) error {
	for _, t := range e.to[output] {
		if err := t.give(b, false); err != nil {
			return err
		}
	}
	return nil
}

// Boundary tells what reads an output how far it is complete.
func (e *engine) Boundary(output int, at tuple.Time) error {
	for _, t := range e.to[output] {
		if t.engine != nil {
			t.engine.bound(t, at)
		}
	}
	return nil
}

// give hands on a batch; owned says whether it may be kept.
func (t target) give(b *tuple.Batch, owned bool) error {
	if t.sink != nil {
		return t.sink.write(b)
	}
	if !owned && t.engine.unions[t.union].ordered != nil {
		b = b.Clone()
	}
	return t.engine.rows(t, b)
}
