package sunion

import "fednode/query/tuple"

// SOutput numbers the results of one output of a fragment. Ids are consecutive from 1 within a generation. Beside the
// stable results it numbers tentative ones, within a run.
type SOutput struct {
	generation uint64
	next       uint64
	boundary   tuple.Time
	run        tentative
}

// tentative is the open run; the zero value is none.
type tentative struct {
	open     bool
	run      tuple.Run
	next     uint64
	boundary tuple.Time
	high     tuple.Time // the largest stime of its rows
}

// OutputState is what a recovery point holds of an output.
type OutputState struct {
	Generation uint64
	// Next is the id of the next result.
	Next     uint64
	Boundary tuple.Time
}

// NewSOutput returns an output of a generation that has emitted nothing. Generations count from 1.
func NewSOutput(generation uint64) *SOutput {
	return &SOutput{generation: generation, next: 1, boundary: tuple.MinTime}
}

// RestoreSOutput returns an output that goes on where a recovery point was cut.
func RestoreSOutput(s OutputState) *SOutput {
	return &SOutput{generation: s.Generation, next: s.Next, boundary: s.Boundary}
}

// State returns what a recovery point holds.
func (o *SOutput) State() OutputState {
	return OutputState{Generation: o.generation, Next: o.next, Boundary: o.boundary}
}

// Batch numbers the rows of a borrowed batch and returns them as an owned frame; nil if there are none.
func (o *SOutput) Batch(b *tuple.Batch) *tuple.Frame {
	n := uint64(b.Rows())
	if n == 0 {
		return nil
	}
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: o.generation, FirstID: o.next, LastID: o.next + n - 1, Batch: b.Clone()}
	o.next += n
	return f
}

// Boundary returns the boundary frame for t, or nil if t says nothing new. age is in microseconds (see tuple.Frame).
func (o *SOutput) Boundary(t tuple.Time, age int64) *tuple.Frame {
	if t <= o.boundary {
		return nil
	}
	o.boundary = t
	return &tuple.Frame{Kind: tuple.Boundary, Generation: o.generation, Time: t, Age: age}
}

// Open begins a run at the stable boundary.
func (o *SOutput) Open(run tuple.Run) {
	o.run = tentative{open: true, run: run, next: 1, boundary: o.boundary, high: tuple.MinTime}
}

// Run returns the open run.
func (o *SOutput) Run() (run tuple.Run, open bool) { return o.run.run, o.run.open }

// Tentative numbers the rows of a borrowed batch within the run and returns them as an owned frame; nil if there are
// none. missing are the inputs whose absence makes them tentative.
func (o *SOutput) Tentative(b *tuple.Batch, missing []tuple.Missing) *tuple.Frame {
	n := uint64(b.Rows())
	if n == 0 {
		return nil
	}
	f := &tuple.Frame{Kind: tuple.Tentative, Run: o.run.run, FirstID: o.run.next, LastID: o.run.next + n - 1, Batch: b.Clone(), Missing: missing}
	o.run.next += n
	for k := range b.Rows() {
		o.run.high = max(o.run.high, b.Time[b.Row(k)])
	}
	return f
}

// Beyond returns what of a borrowed batch the boundary of the run does not cover.
func (o *SOutput) Beyond(b *tuple.Batch) *tuple.Batch { return from(b, o.run.boundary) }

// Unsaid returns what of a borrowed batch lies behind all that the run has given, rows beyond its boundary included: in the
// order of a stream they come next.
func (o *SOutput) Unsaid(b *tuple.Batch) *tuple.Batch {
	return from(b, max(o.run.boundary, o.run.high.Add(1)))
}

// from returns the rows of a batch from an stime on.
func from(b *tuple.Batch, at tuple.Time) *tuple.Batch {
	view := *b
	view.Sel = make([]uint32, 0, b.Rows())
	for k := range b.Rows() {
		if row := b.Row(k); b.Time[row] >= at {
			view.Sel = append(view.Sel, uint32(row))
		}
	}
	return &view
}

// TentativeBoundary returns the boundary frame of the run for t, or nil if t says nothing new.
func (o *SOutput) TentativeBoundary(t tuple.Time, age int64, missing []tuple.Missing) *tuple.Frame {
	if t <= o.run.boundary {
		return nil
	}
	o.run.boundary = t
	return &tuple.Frame{Kind: tuple.TentativeBoundary, Run: o.run.run, Time: t, Age: age, Missing: missing}
}

// Finish ends the run: its corrections are complete.
func (o *SOutput) Finish() *tuple.Frame { return o.end(tuple.RecDone) }

// Undo ends the run: what it gave is void.
func (o *SOutput) Undo() *tuple.Frame { return o.end(tuple.Undo) }

func (o *SOutput) end(kind tuple.FrameKind) *tuple.Frame {
	f := &tuple.Frame{Kind: kind, Run: o.run.run}
	o.run = tentative{}
	return f
}
