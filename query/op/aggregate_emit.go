package op

import (
	"fednode/query/expr"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// emitter writes results. It is scratch and output dictionaries, not state.
type emitter struct {
	plan   *aggregation
	keys   *state.KeyWriter
	having *expr.Eval
	batch  tuple.Batch
	count  []int64
	sel    []uint32

	rows     uint64
	overflow uint64
}

// emitRows is the most rows of one output batch.
const emitRows = 4096

func newEmitter(p *aggregation) *emitter {
	e := &emitter{plan: p, keys: state.NewKeyWriter(p.keyTypes())}
	e.batch = tuple.Batch{Schema: p.schema, Cols: make([]tuple.Column, p.schema.Len())}
	for i := range 2 {
		e.batch.Cols[i].Reset(tuple.Of(tuple.Timestamp))
	}
	if p.having != nil {
		e.having = p.having.NewEval()
	}
	return e
}

func (a *aggregation) keyTypes() []tuple.Type {
	types := make([]tuple.Type, len(a.keys))
	for i, k := range a.keys {
		types[i] = k.field.Type
	}
	return types
}

// results are rows to emit in the order given: row i is group groupSlots[i] of groups with the accumulators cellSlots[i]
// of cells.
type results struct {
	groups     *state.Groups
	groupSlots []uint32
	cells      *cells
	cellSlots  []uint32
	// bounds of row i; nil when all have those of window.
	bounds []bounds
	window bounds
}

// bounds are a window [start, end).
type bounds struct{ start, end tuple.Time }

// emit hands results on in batches.
func (e *emitter) emit(r results, out Out) error {
	for lo := 0; lo < len(r.groupSlots); lo += emitRows {
		part := r.slice(lo, min(lo+emitRows, len(r.groupSlots)))
		e.overflow += e.aggregates(&part) // of rows too that having drops
		if e.having != nil && !e.plan.havingReadsKeys() {
			// Most groups may fall here, before their keys have been written.
			if part = part.pick(e.selected()); len(part.groupSlots) == 0 {
				continue
			}
			e.aggregates(&part)
		}
		e.keys.Write(e.batch.Cols[2:2+len(e.plan.keys)], part.groups, part.groupSlots)
		if err := e.send(out); err != nil {
			return err
		}
	}
	return nil
}

func (r *results) slice(lo, hi int) results {
	part := *r
	part.groupSlots, part.cellSlots = r.groupSlots[lo:hi], r.cellSlots[lo:hi]
	if r.bounds != nil {
		part.bounds = r.bounds[lo:hi]
	}
	return part
}

// pick returns the rows that sel names; it is sel's when these are all.
func (r *results) pick(sel []uint32) results {
	if len(sel) == len(r.groupSlots) {
		return *r
	}
	part := *r
	part.groupSlots, part.cellSlots, part.bounds = nil, nil, nil
	for _, i := range sel {
		part.groupSlots, part.cellSlots = append(part.groupSlots, r.groupSlots[i]), append(part.cellSlots, r.cellSlots[i])
		if r.bounds != nil {
			part.bounds = append(part.bounds, r.bounds[i])
		}
	}
	return part
}

// havingReadsKeys reports whether having looks at a group column.
func (a *aggregation) havingReadsKeys() bool {
	for _, c := range a.having.Columns() {
		if c >= 2 && c < 2+len(a.keys) {
			return true
		}
	}
	return false
}

// aggregates fills the batch but for its group columns, and returns how many results were out of range.
func (e *emitter) aggregates(r *results) (overflow uint64) {
	b := &e.batch
	b.Sel, b.Time = nil, b.Time[:0]
	starts, ends := b.Cols[0].Int[:0], b.Cols[1].Int[:0]
	for i := range r.groupSlots {
		w := r.window
		if r.bounds != nil {
			w = r.bounds[i]
		}
		starts, ends = append(starts, int64(w.start)), append(ends, int64(w.end))
		b.Time = append(b.Time, w.end.Add(-1))
	}
	b.Cols[0].Int, b.Cols[1].Int = starts, ends
	if len(e.count) < len(r.cellSlots) {
		e.count = make([]int64, len(r.cellSlots))
	}
	return r.cells.results(b.Cols[2+len(e.plan.keys):], r.cellSlots, e.count)
}

// selected returns the rows of the batch for which having is true.
func (e *emitter) selected() []uint32 {
	e.sel = e.having.Select(&e.batch, e.sel[:0])
	return e.sel
}

func (e *emitter) send(out Out) error {
	b := &e.batch
	if e.having != nil && e.plan.havingReadsKeys() {
		if sel := e.selected(); len(sel) == 0 {
			return nil
		} else if len(sel) < len(b.Time) {
			b.Sel = sel
		}
	}
	e.rows += uint64(b.Rows())
	return out.Batch(0, b)
}

func (e *emitter) counters(c Counters) Counters {
	c.RowsOut += e.rows
	c.Overflow += e.overflow
	return evalCounters(c, e.having)
}
