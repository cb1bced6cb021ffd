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
	e := &emitter{plan: p, keys: state.NewKeyWriter(p.keyTypes()), count: make([]int64, emitRows)}
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
		hi := min(lo+emitRows, len(r.groupSlots))
		e.write(&r, lo, hi)
		if err := e.send(out); err != nil {
			return err
		}
	}
	return nil
}

func (e *emitter) write(r *results, lo, hi int) {
	b := &e.batch
	b.Sel, b.Time = nil, b.Time[:0]
	starts, ends := b.Cols[0].Int[:0], b.Cols[1].Int[:0]
	for i := lo; i < hi; i++ {
		w := r.window
		if r.bounds != nil {
			w = r.bounds[i]
		}
		starts, ends = append(starts, int64(w.start)), append(ends, int64(w.end))
		b.Time = append(b.Time, w.end.Add(-1))
	}
	b.Cols[0].Int, b.Cols[1].Int = starts, ends
	keys := len(e.plan.keys)
	e.keys.Write(b.Cols[2:2+keys], r.groups, r.groupSlots[lo:hi])
	e.overflow += r.cells.results(b.Cols[2+keys:], r.cellSlots[lo:hi], e.count)
}

func (e *emitter) send(out Out) error {
	b := &e.batch
	if e.having != nil {
		e.sel = e.having.Select(b, e.sel[:0])
		if len(e.sel) == 0 {
			return nil
		}
		if len(e.sel) < len(b.Time) {
			b.Sel = e.sel
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
