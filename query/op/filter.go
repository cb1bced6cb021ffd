package op

import (
	"fednode/query/expr"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// filterKind declares filter: the rows for which a condition is true, not those for which it is false or null.
//
//	where = "conns > 100"
func filterKind() Kind {
	return Kind{Name: "filter", MinInputs: 1, MaxInputs: 1, Build: buildFilter}
}

func buildFilter(r *spec.Reader, in []Input) *Plan {
	where := conditionOver(r, "where", true, in[0])
	if where == nil {
		return nil
	}
	return &Plan{
		Kind:             "filter",
		Ports:            []Port{{Schema: in[0].Schema}},
		OrderInsensitive: true,
		Convergence:      Stateless,
		State:            "none",
		Reads:            [][]string{nil},
		Detail:           "where " + where.String(),
		New:              func() Operator { return &filter{where: where, eval: where.NewEval()} },
	}
}

// filter hands its input's columns on with a selection: nothing is copied.
type filter struct {
	stateless
	where *expr.Program
	eval  *expr.Eval
	sel   []uint32
	out   tuple.Batch
}

func (f *filter) Process(_ int, b *tuple.Batch, out Out) error {
	f.sel = f.eval.Select(b, f.sel[:0])
	f.count(b.Rows(), len(f.sel))
	switch len(f.sel) {
	case 0:
		return nil
	case b.Rows():
		return out.Batch(0, b)
	}
	f.out = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: f.sel, Ordered: b.Ordered}
	return out.Batch(0, &f.out)
}

func (f *filter) Fork() Operator { return &filter{where: f.where, eval: f.where.NewEval()} }

func (f *filter) Counters() Counters { return evalCounters(f.counters, f.eval) }
