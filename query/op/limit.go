package op

import (
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// limitKind declares limit: the first rows of each window, or of the stream. The others are counted as dropped.
//
//	rows = 10
//	per = "window"      # or "stream"
//
// Rows of a window follow each other.
func limitKind() Kind {
	return Kind{Name: "limit", MinInputs: 1, MaxInputs: 1, Build: buildLimit}
}

func buildLimit(r *spec.Reader, in []Input) *Plan {
	before := markProblems(r)
	r.Value("rows", true, spec.Int)
	rows := r.Int("rows", 1, 1, 1<<40)
	l := limit{rows: rows, perWindow: r.OneOf("per", "window", "window", "stream") == "window"}
	if l.perWindow {
		l.start, l.end, _ = windowColumns(r, "per", in[0])
	}
	if before.more(r) {
		return nil
	}
	p := &Plan{
		Kind:        "limit",
		Ports:       []Port{{Schema: in[0].Schema}},
		Convergence: Divergent,
		Span:        -1,
		State:       "one count",
		Reads:       [][]string{nil},
		Detail:      fmt.Sprintf("%d rows of the stream", rows),
		New:         func() Operator { c := l; return &c },
	}
	if l.perWindow {
		p.Convergence, p.Span = Convergent, 1
		p.Detail = fmt.Sprintf("%d rows of each window", rows)
	}
	return p
}

type limit struct {
	// Fixed.
	rows       int64
	perWindow  bool
	start, end int // columns, if perWindow

	// State.
	taken  int64
	window windowSpan

	sel      []uint32
	out      tuple.Batch
	counters Counters
}

// windowSpan is the window of a row: both ends, and which of them are not null.
type windowSpan struct {
	start, end       int64
	hasStart, hasEnd bool
	stime            tuple.Time
}

func (l *limit) windowAt(b *tuple.Batch, row int) windowSpan {
	w := windowSpan{stime: b.Time[row]}
	if c := &b.Cols[l.start]; !c.IsNull(row) {
		w.start, w.hasStart = c.Int[row], true
	}
	if c := &b.Cols[l.end]; !c.IsNull(row) {
		w.end, w.hasEnd = c.Int[row], true
	}
	return w
}

func (l *limit) Process(_ int, b *tuple.Batch, out Out) error {
	l.sel = l.sel[:0]
	for i := range b.Rows() {
		row := b.Row(i)
		if l.perWindow {
			if w := l.windowAt(b, row); w != l.window {
				l.window, l.taken = w, 0
			}
		}
		if l.taken < l.rows {
			l.taken++
			l.sel = append(l.sel, uint32(row))
		}
	}
	l.counters.RowsIn += uint64(b.Rows())
	l.counters.RowsOut += uint64(len(l.sel))
	l.counters.Dropped += uint64(b.Rows() - len(l.sel))
	if len(l.sel) == 0 {
		return nil
	}
	l.out = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: l.sel}
	return out.Batch(0, &l.out)
}

// Boundary passes t on, and forgets a window that no later row belongs to.
func (l *limit) Boundary(_ int, t tuple.Time, _ Out) (tuple.Time, error) {
	if l.perWindow && l.window.stime < t {
		l.window, l.taken = windowSpan{stime: tuple.MinTime}, 0
	}
	return t, nil
}

func (l *limit) Snapshot(e *tuple.Encoder) {
	e.Int(l.taken)
	e.Int(l.window.start)
	e.Int(l.window.end)
	e.Bool(l.window.hasStart)
	e.Bool(l.window.hasEnd)
	e.Time(l.window.stime)
}

func (l *limit) Restore(d *tuple.Decoder) {
	l.taken = d.Int()
	l.window = windowSpan{start: d.Int(), end: d.Int(), hasStart: d.Bool(), hasEnd: d.Bool(), stime: d.Time()}
	if l.taken < 0 || l.taken > l.rows {
		d.Fail("%d rows taken of %d", l.taken, l.rows)
	}
}

func (l *limit) Fork() Operator {
	f := *l
	f.sel, f.out, f.counters = nil, tuple.Batch{}, Counters{}
	return &f
}

func (l *limit) StateBytes() int64 { return 48 }

func (l *limit) Counters() Counters { return l.counters }
