package op

import (
	"fednode/query/expr"
	"fednode/query/tuple"
)

// pairEval decides the residual condition for candidate pairs.
type pairEval struct {
	eval    *expr.Eval
	columns []int
	rows    *assembly
	sel     []uint32
}

func newPairEval(d *joinDecl) *pairEval {
	return &pairEval{eval: d.where.NewEval(), columns: d.where.Columns(), rows: newAssembly(d.pair.schema)}
}

// keep returns the events for which the condition is true.
func (w *pairEval) keep(j *join, events []joinEvent) []joinEvent {
	kept := events[:0]
	for len(events) > 0 {
		n := min(len(events), assemblyStep)
		part := events[:n]
		events = events[n:]
		for _, c := range w.columns {
			j.gather(w.rows, c, j.d.pair.from[c], part)
		}
		for _, e := range part {
			w.rows.b.Time = append(w.rows.b.Time, e.time)
		}
		w.sel = w.eval.Select(w.rows.batch(), w.sel[:0])
		for _, i := range w.sel {
			kept = append(kept, part[i])
		}
		w.rows.clear()
	}
	return kept
}

// joinCompute makes the declared columns out of gathered pairs.
type joinCompute struct {
	l     *joinLayout
	evals []*expr.Eval
	out   tuple.Batch
}

func newJoinCompute(d *joinDecl) *joinCompute {
	c := &joinCompute{l: d.layout, evals: make([]*expr.Eval, len(d.layout.compute))}
	c.out = tuple.Batch{Schema: d.layout.schema, Cols: make([]tuple.Column, d.layout.schema.Len())}
	for i, p := range d.layout.compute {
		if p != nil {
			c.evals[i] = p.NewEval()
		}
	}
	return c
}

func (c *joinCompute) apply(b *tuple.Batch) *tuple.Batch {
	c.out.Time = b.Time
	for i, e := range c.evals {
		if e != nil {
			c.out.Cols[i] = *e.Eval(b)
		} else {
			c.out.Cols[i] = b.Cols[c.l.pairCol[c.l.pick[i]]]
		}
	}
	return &c.out
}
