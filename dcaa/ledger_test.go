package dcaa

import (
	"fmt"
	"slices"
	"strings"

	"fednode/query/tuple"
)

// ledger is a Taker that keeps what a consumer holds, and says what it is told.
type ledger struct {
	note     func(format string, args ...any)
	boundary tuple.Time // of P
	rows     uint64
	q        []tuple.Time // rows of Q
	qTo      tuple.Time
	refuse   bool
}

func newLedger(note func(string, ...any)) *ledger {
	return &ledger{note: note, boundary: tuple.MinTime, qTo: tuple.MinTime}
}

// Rows extend P.
func (l *ledger) Rows(f *tuple.Frame) error {
	if l.refuse {
		return fmt.Errorf("rows below a boundary")
	}
	l.rows += f.LastID - f.FirstID + 1
	l.note("P has rows %d-%d", f.FirstID, f.LastID)
	return nil
}

// Boundary takes from Q what it passes.
func (l *ledger) Boundary(t tuple.Time, _ Age) {
	l.boundary = t
	gone := len(l.q)
	l.q = slices.DeleteFunc(l.q, func(at tuple.Time) bool { return at < t })
	l.note("P is complete to %s", stime(t))
	if gone -= len(l.q); gone > 0 {
		l.note("%d rows leave Q", gone)
	}
}

// Gap says what will never come.
func (l *ledger) Gap(f *tuple.Frame) {
	l.note("gap [%s, %s), on behind %d:%d", stime(f.Time), stime(f.To), f.Generation, f.FirstID)
}

// TentativeRows extend Q.
func (l *ledger) TentativeRows(f *tuple.Frame) {
	var came []string
	for k := range f.Batch.Rows() {
		at := f.Batch.Time[f.Batch.Row(k)]
		l.q = append(l.q, at)
		came = append(came, stime(at))
	}
	l.note("Q has %s", strings.Join(came, " "))
}

// TentativeBoundary says up to where Q is complete.
func (l *ledger) TentativeBoundary(t tuple.Time, _ Age) {
	l.qTo = t
	l.note("Q is complete to %s", stime(t))
}

// Trim forgets rows of Q from t on.
func (l *ledger) Trim(t tuple.Time) {
	gone := len(l.q)
	l.q = slices.DeleteFunc(l.q, func(at tuple.Time) bool { return at >= t })
	l.note("Q is cut at %s, %d rows go", stime(t), gone-len(l.q))
}

// Undo and Done forget Q.
func (l *ledger) Undo(run tuple.Run) { l.forget("undo", run) }

// Done does too.
func (l *ledger) Done(run tuple.Run) { l.forget("done", run) }

func (l *ledger) forget(how string, run tuple.Run) {
	l.note("%s %v, %d rows go", how, run, len(l.q))
	l.q, l.qTo = nil, tuple.MinTime
}

// problem says where the ledger and the intake differ.
func (l *ledger) problem(i *Intake) string {
	_, to, _, held := i.Suffix()
	switch {
	case i.Position().Time != l.boundary:
		return fmt.Sprintf("position %v, the last boundary was %s", i.Position(), stime(l.boundary))
	case !held && len(l.q) > 0:
		return fmt.Sprintf("%d rows are held of no run", len(l.q))
	case held && to < l.qTo:
		return fmt.Sprintf("Q to %s, it was complete to %s", stime(to), stime(l.qTo))
	}
	return ""
}
