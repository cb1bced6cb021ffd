package client

import (
	"fednode/dcaa"
	"fednode/query/tuple"
)

// events is what an intake has let through and nobody has taken yet. Only the frame taken last waits here, with what it
// causes.
type events struct {
	intake *dcaa.Intake
	queue  []*tuple.Frame

	generation uint64 // of the rows delivered last
	suffix     openRows
}

// openRows are tentative rows that were delivered and that neither an UNDO nor a REC_DONE has named.
type openRows struct {
	any       bool
	low, high tuple.Time // their stimes lie in between
}

func (o *openRows) add(low, high tuple.Time) {
	if !o.any {
		*o = openRows{true, low, high}
		return
	}
	o.low, o.high = min(o.low, low), max(o.high, high)
}

func newEvents(from tuple.Position) events {
	return events{generation: from.Generation}
}

// next takes the oldest event, nil if there is none.
func (e *events) next() *tuple.Frame {
	if len(e.queue) == 0 {
		return nil
	}
	f := e.queue[0]
	e.queue[0] = nil
	if e.queue = e.queue[1:]; len(e.queue) == 0 {
		e.queue = nil
	}
	return f
}

func (e *events) give(f *tuple.Frame) { e.queue = append(e.queue, f) }

// Rows delivers stable rows.
func (e *events) Rows(f *tuple.Frame) error {
	e.generation = f.Generation
	e.give(f)
	return nil
}

// Boundary delivers a boundary, after word that it replaces tentative rows.
func (e *events) Boundary(t tuple.Time, age dcaa.Age) {
	switch run, _, _, held := e.intake.Suffix(); {
	case !e.suffix.any:
	case !held || e.suffix.high < t:
		e.replaced(run, tuple.MaxTime)
	case e.suffix.low < t:
		e.replaced(run, t)
	}
	e.give(&tuple.Frame{Kind: tuple.Boundary, Generation: e.generation, Time: t, Age: age.Total, Normal: age.Normal})
}

// replaced tells that the tentative rows before t have given way to stable ones.
func (e *events) replaced(run tuple.Run, t tuple.Time) {
	e.give(&tuple.Frame{Kind: tuple.RecDone, Run: run, Time: t})
	if e.suffix.low = t; t == tuple.MaxTime {
		e.suffix = openRows{}
	}
}

// Gap delivers word of lost rows.
func (e *events) Gap(f *tuple.Frame) {
	e.generation = f.Generation
	e.give(f)
}

// TentativeRows delivers rows of the suffix.
func (e *events) TentativeRows(f *tuple.Frame) {
	e.suffix.add(span(f.Batch))
	e.give(f)
}

// TentativeBoundary delivers up to where the suffix is complete.
func (e *events) TentativeBoundary(t tuple.Time, age dcaa.Age) {
	run, _, missing, _ := e.intake.Suffix()
	e.give(&tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Missing: missing, Time: t, Age: age.Total, Normal: age.Normal})
}

// Trim voids rows that another replica's run gives again.
func (e *events) Trim(t tuple.Time) {
	if !e.suffix.any || e.suffix.high < t {
		return
	}
	run, _, _, _ := e.intake.Suffix()
	e.give(&tuple.Frame{Kind: tuple.Undo, Run: run, Time: t})
	if t <= e.suffix.low {
		e.suffix = openRows{}
		return
	}
	e.suffix.high = t - 1
}

// Undo voids the suffix.
func (e *events) Undo(run tuple.Run) {
	if e.suffix.any {
		e.give(&tuple.Frame{Kind: tuple.Undo, Run: run, Time: tuple.MinTime})
	}
	e.suffix = openRows{}
}

// Done says that stable rows have replaced the suffix.
func (e *events) Done(run tuple.Run) {
	if e.suffix.any {
		e.replaced(run, tuple.MaxTime)
	}
}
