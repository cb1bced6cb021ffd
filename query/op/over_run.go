package op

import (
	"slices"

	"fednode/query/expr"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// over remembers rows of each key and computes from them, row by row.
type over struct {
	d        *overDecl
	table    keyTable
	history  state.Array[*overHistory] // by slot
	held     int64                     // rows remembered
	text     int64                     // bytes of their binary values
	owner    *owner
	coder    keyCoder
	evals    []*expr.Eval
	columns  []*tuple.Column // scratch: the arguments of the batch
	rows     *assembly
	counters Counters
}

// overHistory is what is remembered of one key: rows with one value for each argument.
type overHistory struct {
	owner *owner
	time  []tuple.Time
	cells []scalar
	means []scalar // of each ewma; not set before the first value
}

func newOver(d *overDecl) *over {
	o := &over{d: d, owner: new(owner), columns: make([]*tuple.Column, len(d.args)), rows: newAssembly(d.schema)}
	o.coder.cols = d.key
	for _, a := range d.args {
		o.evals = append(o.evals, a.NewEval())
	}
	return o
}

func (o *over) Process(_ int, b *tuple.Batch, out Out) error {
	for i, e := range o.evals {
		o.columns[i] = e.Eval(b)
	}
	o.counters.RowsIn += uint64(b.Rows())
	o.table.settle()
	o.history.Own(nil)
	added := b.Schema.Len()
	for i := range b.Rows() {
		row := b.Row(i)
		h := o.historyOf(b, row)
		for k := range o.d.funcs {
			o.rows.scalar(added+k, o.value(&o.d.funcs[k], h, b.Time[row]))
		}
		o.remember(h, b.Time[row], i)
		if o.d.limit > 0 && o.held > o.d.limit {
			return &LimitError{What: "rows remembered by over", Limit: o.d.limit}
		}
	}
	for j := range b.Cols {
		o.rows.take(j, &b.Cols[j], b.Sel)
	}
	o.rows.times(b.Time, b.Sel)
	o.counters.RowsOut += uint64(o.rows.rows())
	return o.rows.flush(0, out)
}

// historyOf returns the history of a row's key for writing.
func (o *over) historyOf(b *tuple.Batch, row int) *overHistory {
	t := b.Time[row]
	o.forget(t)
	key := o.coder.code(b, row)
	slot, known := o.table.find(key)
	if !known {
		slot = o.table.insert(key, t)
		o.history.Grow(o.table.slots.Len())
		h := &overHistory{owner: o.owner, means: make([]scalar, o.d.means)}
		*o.history.At(slot) = h
		return h
	}
	o.table.touch(slot, t)
	h := o.history.Get(slot)
	if h.owner != o.owner {
		h = &overHistory{owner: o.owner, time: slices.Clone(h.time), cells: slices.Clone(h.cells), means: slices.Clone(h.means)}
		*o.history.At(slot) = h
	}
	return h
}

// forget drops the keys that have not been seen for the ttl.
func (o *over) forget(t tuple.Time) {
	if o.d.ttl == 0 {
		return
	}
	for s, ok := o.table.front(); ok && o.table.used(s).Add(o.d.ttl) <= t; s, ok = o.table.front() {
		h := o.history.Get(s)
		o.held -= int64(len(h.time))
		o.text -= textBytes(h.cells)
		*o.history.At(s) = nil
		o.table.remove(s)
	}
}

// remember adds row i of the arguments to a history and drops what no later row will look at.
func (o *over) remember(h *overHistory, t tuple.Time, i int) {
	for _, f := range o.d.funcs {
		if f.name == "ewma" {
			h.means[f.mean] = o.weigh(&f, h.means[f.mean], i)
		}
	}
	if o.d.rows == 0 && o.d.time < 0 {
		return
	}
	h.time = append(h.time, t)
	for _, c := range o.columns {
		h.cells = append(h.cells, scalarAt(c, i))
	}
	o.text += textBytes(h.cells[len(h.cells)-len(o.columns):])
	o.held++
	n := 0
	for len(h.time)-n > o.d.rows && (o.d.time < 0 || n+1 < len(h.time) && h.time[n+1] <= t.Add(-o.d.time)) {
		n++
	}
	if n > 0 {
		o.text -= textBytes(h.cells[:n*len(o.columns)])
		h.time = slices.Delete(h.time, 0, n)
		h.cells = slices.Delete(h.cells, 0, n*len(o.columns))
		o.held -= int64(n)
	}
}

func (o *over) Boundary(_ int, t tuple.Time, _ Out) (tuple.Time, error) {
	o.forget(t)
	return t, nil
}

func (o *over) Snapshot(e *tuple.Encoder) {
	o.table.snapshot(e, func(slot uint32) {
		h := o.history.Get(slot)
		e.Times(h.time)
		for i, c := range h.cells {
			c.encode(e, o.d.kinds[i%len(o.d.kinds)])
		}
		for _, m := range h.means {
			m.encode(e, tuple.Of(tuple.Float64))
		}
	})
}

func (o *over) Restore(d *tuple.Decoder) {
	o.table.restore(d, o.d.types, func(slot uint32) {
		h := &overHistory{owner: o.owner, time: d.Times(), means: make([]scalar, o.d.means)}
		if !slices.IsSorted(h.time) {
			d.Fail("rows of a key out of order")
		}
		for range len(h.time) * len(o.d.kinds) {
			if d.Err() != nil {
				break
			}
			h.cells = append(h.cells, decodeScalar(d, o.d.kinds[len(h.cells)%len(o.d.kinds)]))
		}
		for i := range h.means {
			h.means[i] = decodeScalar(d, tuple.Of(tuple.Float64))
		}
		o.history.Grow(o.table.slots.Len())
		*o.history.At(slot) = h
		o.held += int64(len(h.time))
		o.text += textBytes(h.cells)
	})
}

func (o *over) Fork() Operator {
	f := newOver(o.d)
	f.table, f.history, f.held, f.text = o.table.fork(), o.history.Fork(), o.held, o.text
	// Histories that exist now belong to neither: whoever changes one copies it.
	o.owner = new(owner)
	return f
}

func (o *over) StateBytes() int64 {
	return o.table.bytes() + o.history.Bytes() + o.text + o.held*int64(8+40*len(o.d.kinds)) + int64(o.table.count)*96
}

func (o *over) Counters() Counters {
	c := o.counters
	for _, e := range o.evals {
		c = evalCounters(c, e)
	}
	return c
}
