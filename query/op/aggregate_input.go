package op

import (
	"fednode/query/expr"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// arguments evaluates the group columns and the arguments of aggregates for a batch. It is scratch, not state.
type arguments struct {
	keys  []*expr.Eval
	args  []*expr.Eval // nil for count()
	key   []tuple.Column
	cols  []*tuple.Column // dense; nil for count()
	slots []uint32        // scratch of nonNull
	rows  []uint32
	dense tuple.Column
}

func newArguments(p *aggregation) *arguments {
	a := &arguments{
		keys: make([]*expr.Eval, len(p.keys)), args: make([]*expr.Eval, len(p.calls)),
		key: make([]tuple.Column, len(p.keys)), cols: make([]*tuple.Column, len(p.calls)),
	}
	for i, k := range p.keys {
		a.keys[i] = k.value.NewEval()
	}
	for i, c := range p.calls {
		if c.arg != nil {
			a.args[i] = c.arg.NewEval()
		}
	}
	return a
}

// eval computes the arguments of the selected rows of b.
func (a *arguments) eval(b *tuple.Batch) {
	for i, e := range a.args {
		if e != nil {
			a.cols[i] = e.Eval(b)
		}
	}
}

// groups returns the slot of each selected row's group. It is valid until the next call.
func (a *arguments) groups(b *tuple.Batch, g *state.Groups) []uint32 {
	for i, e := range a.keys {
		a.key[i] = *e.Eval(b)
	}
	return g.Slots(a.key, nil, b.Rows())
}

// nonNull returns the slots and the values of the rows that are not null, until the next call.
func (a *arguments) nonNull(slots []uint32, col *tuple.Column) ([]uint32, *tuple.Column) {
	a.slots, a.rows = a.slots[:0], a.rows[:0]
	for i, v := range col.Valid[:len(slots)] {
		if v {
			a.slots, a.rows = append(a.slots, slots[i]), append(a.rows, uint32(i))
		}
	}
	a.dense.Reset(col.Type)
	if len(a.rows) > 0 {
		col.Gather(&a.dense, a.rows)
	}
	a.dense.Valid = nil
	return a.slots, &a.dense
}

func (a *arguments) counters(c Counters) Counters {
	for _, e := range a.keys {
		c = evalCounters(c, e)
	}
	for _, e := range a.args {
		c = evalCounters(c, e)
	}
	return c
}

// timeRange returns the least and the greatest stime of the selected rows, of which there is one at least.
func timeRange(b *tuple.Batch) (first, last tuple.Time) {
	switch {
	case b.Ordered:
		return b.Time[b.Row(0)], b.Time[b.Row(b.Rows()-1)]
	case b.Sel == nil:
		return denseTimeRange(b.Time)
	}
	first, last = b.Time[b.Sel[0]], b.Time[b.Sel[0]]
	for _, i := range b.Sel {
		first, last = min(first, b.Time[i]), max(last, b.Time[i])
	}
	return first, last
}

// denseTimeRange keeps several independent pairs, so that a row does not wait for the one before.
func denseTimeRange(t []tuple.Time) (first, last tuple.Time) {
	lo0, hi0 := t[0], t[0]
	lo1, hi1 := lo0, hi0
	for ; len(t) >= 4; t = t[4:] {
		a, b, c, d := t[0], t[1], t[2], t[3]
		lo0, lo1 = min(lo0, a), min(lo1, b)
		hi0, hi1 = max(hi0, a), max(hi1, b)
		lo0, lo1 = min(lo0, c), min(lo1, d)
		hi0, hi1 = max(hi0, c), max(hi1, d)
	}
	for _, x := range t {
		lo0, hi0 = min(lo0, x), max(hi0, x)
	}
	return min(lo0, lo1), max(hi0, hi1)
}
