package query

import (
	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// OnFull says what happens when what an output holds for a reader of one's own organisation fills the memory and the disk
// that it may.
type OnFull string

// The policies: Block stops the input, and the sources keep it; Converge gives up the oldest results, but for the last
// CorrectWindow, and whoever lacks them is told by a GAP.
const (
	Block    OnFull = "block"
	Converge OnFull = "converge"
)

// DefaultCorrectWindow is how much of an output is kept and corrected by default, in microseconds.
const DefaultCorrectWindow = tuple.Hour

// readOnFull reads what happens to full outputs.
func (s *Settings) readOnFull(r *spec.Reader, t *spec.Table) {
	s.OnFull = OnFull(r.OneOf("on_full", string(Block), string(Block), string(Converge)))
	s.onFullPos = t.PosOf("on_full")
	s.CorrectWindow = r.Duration("correct_window", DefaultCorrectWindow, tuple.Second, 365*tuple.Day)
	if s.OnFull != Converge {
		if t.Has("correct_window") {
			r.Errorf("correct_window", `leave it out, or write on_full = "converge"`, "with `block` nothing is given up, so there is no window that is kept")
		}
		s.CorrectWindow = 0
	}
}

// checkOnFull refuses to give results up where what is made from them would never be right again.
func (b *builder) checkOnFull() {
	if b.d.Settings.OnFull != Converge {
		return
	}
	for _, o := range b.d.Operators {
		if o.Plan.Convergence == op.Divergent {
			b.p.Add(b.d.Settings.onFullPos, "query.on_full", `write on_full = "block"`,
				"with `converge` rows may be given up, and the state of operator `%s`, %s, depends on all rows that ever came", o.Name, o.Plan.Kind)
		}
	}
}
