package wire

import (
	"fednode/query/tuple"
)

// order holds the rules of a stream that can be checked on one connection: what consumer and automaton rely on.
type order struct {
	boundary tuple.Time // of the stable part

	// begun: generation and next are known from frames before; after a GAP only that next is not passed backwards.
	begun      bool
	gap        bool
	generation uint64
	next       uint64

	run      tuple.Run
	runNext  uint64
	runBound tuple.Time
}

func newOrder() order { return order{boundary: tuple.MinTime} }

// frame checks f against what came before. Rows are not looked at here.
func (o *order) frame(f *tuple.Frame) error {
	switch f.Kind {
	case tuple.Insertion:
		return o.insertion(f)
	case tuple.Tentative:
		return o.tentative(f)
	case tuple.Boundary:
		if f.Time < o.boundary {
			return broken(BelowBoundary, "boundary %v after %v", f.Time, o.boundary)
		}
		o.boundary = f.Time
	case tuple.TentativeBoundary:
		o.enter(f.Run)
		if f.Time < o.runBound {
			return broken(BelowBoundary, "tentative boundary %v after %v", f.Time, o.runBound)
		}
		o.runBound = f.Time
	case tuple.Undo, tuple.RecDone:
		if f.Run == o.run {
			o.run = tuple.Run{}
		}
	case tuple.Gap:
		if o.generation != f.Generation {
			o.next = 0
		}
		o.generation, o.gap = f.Generation, true
	}
	return nil
}

func (o *order) insertion(f *tuple.Frame) error {
	switch {
	case (o.begun || o.gap) && f.Generation != o.generation:
		return broken(BadIDs, "generation %d after %d, without a gap", f.Generation, o.generation)
	case o.gap && f.FirstID < o.next:
		return broken(BadIDs, "ids from %d on, %d was next", f.FirstID, o.next)
	case o.begun && !o.gap && f.FirstID != o.next:
		return broken(BadIDs, "ids from %d on, %d was next", f.FirstID, o.next)
	}
	o.begun, o.gap, o.generation, o.next = true, false, f.Generation, f.LastID+1
	return nil
}

// enter begins a run, unless it is the current one.
func (o *order) enter(r tuple.Run) {
	if r != o.run {
		o.run, o.runNext, o.runBound = r, 0, tuple.MinTime
	}
}

func (o *order) tentative(f *tuple.Frame) error {
	o.enter(f.Run)
	if o.runNext != 0 && f.FirstID != o.runNext {
		return broken(BadIDs, "tentative rows from %d on, %d was next in run %v", f.FirstID, o.runNext, f.Run)
	}
	o.runNext = f.LastID + 1
	return nil
}

// rows checks the stimes of a frame's batch against the boundary of its kind.
func (o *order) rows(f *tuple.Frame) error {
	bound := o.boundary
	if f.Kind == tuple.Tentative {
		bound = o.runBound
	}
	least := tuple.MaxTime
	for _, t := range f.Batch.Time {
		least = min(least, t)
	}
	if least < bound {
		return broken(BelowBoundary, "a row at %v, behind the boundary %v", least, bound)
	}
	return nil
}
