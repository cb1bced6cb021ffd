package sim

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// watch is the sink of the client, and judges what it gets. It is the taker of the client's intake, over all its lives.
type watch struct {
	r *Run
	// P: the id of the last stable row and the stable boundary, of this life of the client and of the furthest one.
	id       uint64
	boundary tuple.Time
	furthest uint64
	// again: a later generation may give rows below the boundary again, which the client passes over with their ids.
	again bool
	// Q.
	tentative bool
	reached   tuple.Time // its boundary
	// covered is the furthest that P and Q together have ever reached.
	covered tuple.Time
	// seen marks the rows of sources that have been reflected, by source and number; rows are those not yet judged.
	// Only where every row of a source comes through, and in order: what disorder does to the boundaries of one source and
	// not to those of another can look like a failure.
	follow bool
	seen   [][]bool
	rows   [][]born
	judged []int   // of accepted rows of each source
	losses *losses // nil where nothing may be lost
}

// born is a row of a source with when it became known.
type born struct {
	stime  tuple.Time
	number uint64
	at     int64 // world time
}

func newWatch(r *Run) *watch {
	s := &r.top.Spec
	n := s.Sources
	w := &watch{r: r, boundary: tuple.MinTime, reached: tuple.MinTime, covered: tuple.MinTime,
		follow: s.Work == topology.Pass && s.Shape != topology.Diamond && s.Shape != topology.Join && s.Disorder <= s.BoundaryInterval,
		seen:   make([][]bool, n), rows: make([][]born, n)}
	if s.Losses == topology.NamedLosses || s.Consistency == topology.BestEffort {
		w.losses = newLosses(s, r.ref)
	}
	return w
}

// restart begins a life of the client at a position that it had stored.
func (w *watch) restart(at tuple.Position) {
	w.id, w.boundary = at.ID, at.Time
	w.tentative, w.reached = false, tuple.MinTime
	if w.losses != nil {
		w.losses.restart(at)
		w.again = true
	}
}

// accepted notes rows that a source has made durable.
func (w *watch) accepted(source int, f *tuple.Frame) {
	if !w.follow {
		return
	}
	now := w.r.w.Now()
	for i, t := range f.Batch.Time {
		w.rows[source] = append(w.rows[source], born{stime: t, number: uint64(f.Batch.Cols[2].Int[i]) & (1<<32 - 1), at: now})
	}
}

// Rows takes stable rows: they must be those of the run without failures.
func (w *watch) Rows(f *tuple.Frame) error {
	if w.r.trace.frames() {
		w.r.trace.line(w.r.w.Now(), "client", "client", "frame", f.String())
	}
	if f.FirstID != w.id+1 && !(w.again && f.FirstID > w.id) {
		w.r.breach(PromiseEqual, "rows %d to %d come after row %d", f.FirstID, f.LastID, w.id)
	}
	if w.losses != nil {
		if err := w.losses.rows(f); err != nil {
			w.r.breach(PromiseEqual, "%v", err)
		}
	} else if f.FirstID <= w.furthest {
		// The client has stored less than it had taken: it gets those again, and they have been compared.
		if f.LastID > w.furthest {
			w.compare(f.After(w.furthest))
		}
	} else {
		w.compare(f)
	}
	w.id = f.LastID
	w.furthest = max(w.furthest, w.id)
	w.r.result.Rows += uint64(f.Batch.Rows())
	w.r.observer.Rows(w.r.w.Now(), f, false)
	w.mark(f)
	return nil
}

func (w *watch) compare(f *tuple.Frame) {
	if err := w.r.ref.check(f); err != nil {
		w.r.breach(PromiseEqual, "%v", err)
	}
}

// mark notes which rows of sources are reflected.
func (w *watch) mark(f *tuple.Frame) {
	if !w.follow {
		return
	}
	v := &f.Batch.Cols[len(f.Batch.Cols)-1]
	for i := range f.Batch.Rows() {
		x := uint64(v.Int[f.Batch.Row(i)])
		s, n := x>>32, x&(1<<32-1)
		for uint64(len(w.seen[s])) <= n {
			w.seen[s] = append(w.seen[s], false)
		}
		w.seen[s][n] = true
	}
}

// Boundary takes a stable boundary: no row before it may be missing.
func (w *watch) Boundary(t tuple.Time, _ dcaa.Age) {
	if t <= w.boundary {
		w.r.breach("boundaries rise", "stable boundary %v after %v", t, w.boundary)
	}
	w.boundary, w.again = t, false
	if lost, ok := w.missing(t); ok {
		w.r.breach(PromiseEqual, "the boundary %v passes row %d, which did not come", t, lost)
	}
	w.r.observer.Reached(w.r.w.Now(), t, false)
	w.cover(t)
}

// missing returns the first row of the run without failures, by its id there, that a boundary passes and that did not come.
func (w *watch) missing(boundary tuple.Time) (uint64, bool) {
	if w.losses != nil {
		return w.losses.missing(boundary)
	}
	if w.id < w.furthest {
		return 0, false // it comes again, and has been judged
	}
	return w.r.ref.missing(w.id, boundary)
}

// Gap takes a gap. The plans that are drawn need none.
func (w *watch) Gap(f *tuple.Frame) {
	w.r.result.Coverage.Gaps++
	if w.r.trace.frames() {
		w.r.trace.line(w.r.w.Now(), "client", "client", "frame", f.String())
	}
	if w.losses == nil {
		w.r.breach("nothing is lost", "the client is told %v", f)
		return
	}
	w.id, w.again = f.FirstID, true
	w.losses.gap(f, w.boundary)
}

// TentativeRows takes rows of Q.
func (w *watch) TentativeRows(f *tuple.Frame) {
	if w.r.trace.frames() {
		w.r.trace.line(w.r.w.Now(), "client", "client", "frame", f.String())
	}
	w.tentative = true
	w.r.result.Tentative += uint64(f.Batch.Rows())
	w.r.observer.Rows(w.r.w.Now(), f, true)
	w.mark(f)
}

// TentativeBoundary takes up to where Q is complete.
func (w *watch) TentativeBoundary(t tuple.Time, _ dcaa.Age) {
	w.tentative, w.reached = true, t
	w.r.observer.Reached(w.r.w.Now(), t, true)
	w.cover(t)
}

// Trim forgets rows of Q that another run gives again.
func (w *watch) Trim(tuple.Time) { w.r.result.Coverage.Trims++ }

// Undo forgets Q.
func (w *watch) Undo(tuple.Run) {
	w.r.result.Coverage.Undos++
	w.tentative, w.reached = false, tuple.MinTime
	w.r.observer.Over(w.r.w.Now())
}

// Done forgets Q, which stable rows have replaced.
func (w *watch) Done(run tuple.Run) {
	w.r.result.Coverage.Dones++
	if w.tentative && w.boundary < w.reached {
		w.r.breach("no hole in what the client holds", "run %v ends as corrected at %v, and the client has held its rows up to %v", run, w.boundary, w.reached)
	}
	w.tentative, w.reached = false, tuple.MinTime
	w.r.observer.Over(w.r.w.Now())
}

// cover notes that P and Q reach a stime now.
func (w *watch) cover(t tuple.Time) {
	if t <= w.covered {
		return
	}
	w.covered = t
	for s := range w.rows {
		list := w.rows[s]
		n := 0
		for n < len(list) && list[n].stime < t {
			w.reflected(s, list[n])
			n++
		}
		w.rows[s] = list[n:]
	}
}

// holeMargin is for how long before a row came its ways must have been healthy, for it to have no excuse. One healthy way
// among others is not enough: two replicas that both lack something cannot be told apart by how much.
const holeMargin = 1_500_000

// reflected checks that a row which the boundary passes has come, if nothing was in its way.
func (w *watch) reflected(source int, b born) {
	seen := w.seen[source]
	if b.number < uint64(len(seen)) && seen[b.number] || w.losses != nil && w.losses.excused(b.stime) || !w.r.health.allWays(source, b.at-holeMargin) {
		return
	}
	w.r.breach("no hole in what the client holds", "row %d of %s, stime %v, is missing, although all its ways have been healthy since before it came",
		b.number, topology.SourceName(source), b.stime)
}

// behind returns the place in world time of the oldest moment that is not covered.
func (w *watch) behind() int64 {
	if w.covered == tuple.MinTime {
		return 0
	}
	return int64(w.covered-epoch) + w.r.top.Spec.Lag
}

// level reports whether the client holds nothing tentative and keeps up.
func (w *watch) level(now int64) bool {
	return !w.tentative && w.boundary != tuple.MinTime && now-int64(w.boundary-epoch)-w.r.top.Spec.Lag < w.r.rules.normal+tuple.Second
}
