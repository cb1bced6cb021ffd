package sim

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// losses judges the client's stream where rows may be lost: it is that of a run without failures, in order, but for what GAPs
// name. Behind a GAP ids count anew, so rows are told by what is in them.
type losses struct {
	ref *reference
	// reach is for how long behind a lost row results may depend on it, in microseconds.
	reach int64
	named []lostRows
	// calm are the results of the run without failures, in order; given marks those that have come, and next is the place
	// behind the last of them.
	calm   []result
	frames int // of the reference that are in calm
	given  []bool
	next   int
	// places are the values of next by the places that the client may go on from.
	places map[tuple.Position]int
}

// lostRows names a stretch of stime from which rows are missing, up to a time that is not of it.
type lostRows struct{ from, to tuple.Time }

// result is a row of the reference.
type result struct {
	frame *tuple.Frame
	row   int
}

func newLosses(s *topology.Spec, ref *reference) *losses {
	l := &losses{ref: ref, places: make(map[tuple.Position]int)}
	if s.Consistency == topology.BestEffort {
		return l // what comes behind a GAP depends on nothing that it names
	}
	if s.Work == topology.Windows {
		l.reach = s.Window * int64(s.Fragments)
	}
	if s.Shape == topology.Join {
		l.reach += tuple.Second
	}
	return l
}

// place leaves out what is not of the place.
func place(generation, id uint64) tuple.Position {
	return tuple.Position{Generation: generation, ID: id}
}

// restart goes back to a position that the client had stored. The rows before it may be some that it has passed over.
func (l *losses) restart(at tuple.Position) {
	l.next = 0
	last := place(at.Generation, 0)
	for p, next := range l.places {
		if p.Generation == at.Generation && p.ID >= last.ID && p.ID <= at.ID {
			last, l.next = p, next
		}
	}
}

// excused reports whether a result may differ from that of a run without failures.
func (l *losses) excused(t tuple.Time) bool {
	for _, s := range l.named {
		if t >= s.from && t < s.to.Add(l.reach) {
			return true
		}
	}
	return false
}

// gap takes what a GAP names. Rows from the client's boundary on may come again behind it.
func (l *losses) gap(f *tuple.Frame, boundary tuple.Time) {
	l.named = append(l.named, lostRows{f.Time, f.To})
	for l.next > 0 && l.calm[l.next-1].stime() >= boundary {
		l.next--
	}
	l.places[place(f.Generation, f.FirstID)] = l.next
}

func (r *result) stime() tuple.Time { return r.frame.Batch.Time[r.row] }

// advance takes in what the reference has got.
func (l *losses) advance() error {
	all, err := l.ref.all()
	for _, f := range all[l.frames:] {
		for i := range f.Batch.Rows() {
			l.calm = append(l.calm, result{f, f.Batch.Row(i)})
			l.given = append(l.given, false)
		}
	}
	l.frames = len(all)
	return err
}

// rows compares stable rows.
func (l *losses) rows(f *tuple.Frame) error {
	if err := l.advance(); err != nil {
		return err
	}
	for i := range f.Batch.Rows() {
		if err := l.match(f, f.Batch.Row(i)); err != nil {
			return fmt.Errorf("row %d of generation %d: %w", f.FirstID+uint64(i), f.Generation, err)
		}
	}
	l.places[place(f.Generation, f.LastID)] = l.next
	return nil
}

// match finds a row among those that are to come. What it passes has come, or is named by a GAP.
func (l *losses) match(f *tuple.Frame, row int) error {
	loose := l.excused(f.Batch.Time[row])
	for k := l.next; k < len(l.calm); k++ {
		want := &l.calm[k]
		if sameRow(f.Batch, row, want.frame.Batch, want.row) {
			l.given[k], l.next = true, k+1
			return nil
		}
		if loose && want.stime() > f.Batch.Time[row] {
			return nil
		}
		if !l.given[k] && !l.excused(want.stime()) {
			return fmt.Errorf("it is %s, in the run without failures %s, and no GAP names that", rowText(f.Batch, row), rowText(want.frame.Batch, want.row))
		}
	}
	if loose {
		return nil
	}
	return fmt.Errorf("%s does not exist in the run without failures", rowText(f.Batch, row))
}

// missing returns the first result, by its id in the run without failures, that a boundary passes, that has not come, and that
// no GAP names.
func (l *losses) missing(boundary tuple.Time) (uint64, bool) {
	for k := l.next; k < len(l.calm) && l.calm[k].stime() < boundary; k++ {
		if !l.given[k] && !l.excused(l.calm[k].stime()) {
			return uint64(k + 1), true
		}
	}
	return 0, false
}
