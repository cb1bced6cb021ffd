package sim

import (
	"fednode/node/replica"
	"fednode/query/tuple"
)

// Observer is told what a run shows, in order of world time, which is in microseconds since the run's beginning. It is for
// measuring: whether promises hold, the run judges itself. Frames are not to be changed or kept.
type Observer interface {
	// Rows: the client has taken rows, stable or tentative.
	Rows(at int64, f *tuple.Frame, tentative bool)
	// Reached: what the client holds is complete up to a stime, in its stable part or together with its tentative one.
	Reached(at int64, t tuple.Time, tentative bool)
	// Over: the client holds nothing tentative any more.
	Over(at int64)
	// Changed: a path of a replica has changed its state.
	Changed(at int64, node string, c replica.Change)
}

// Promises that say what the client has in the end.
const (
	// PromiseEqual: its stable results are those of a run without failures, row by row.
	PromiseEqual = "the stable stream is that of a run without failures"
	// PromiseRest: all is stable once the faults are over, so that it has all of them.
	PromiseRest = "everything becomes stable once the faults are over"
)

// Breaches returns the breaches of a run, the first of each promise.
func (r *Result) Breaches() []Breach {
	if r.Breach == nil {
		return nil
	}
	return append([]Breach{*r.Breach}, r.Others...)
}

// WorldTime returns when a row of a stime came to be, in world time, if its source has no lag.
func WorldTime(t tuple.Time) int64 { return int64(t - epoch) }

// RowOf tells which row of which source a result of work "pass" is, both counted from 0.
func RowOf(b *tuple.Batch, row int) (source int, number uint64) {
	x := uint64(b.Cols[len(b.Cols)-1].Int[row])
	return int(x >> 32), x & (1<<32 - 1)
}

// unobserved is the observer of a run that nobody looks at.
type unobserved struct{}

func (unobserved) Rows(int64, *tuple.Frame, bool)        {}
func (unobserved) Reached(int64, tuple.Time, bool)       {}
func (unobserved) Over(int64)                            {}
func (unobserved) Changed(int64, string, replica.Change) {}
