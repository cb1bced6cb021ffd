package op

import "fednode/query/expr"

// computing is an operator that evaluates expressions.
type computing interface {
	// each calls f for every one of them; some are nil.
	each(f func(e *expr.Eval))
}

// Share makes the expressions of an operator, which has processed nothing yet, share a room with others.
func Share(o Operator, r *expr.Room) {
	c, ok := o.(computing)
	if !ok {
		return
	}
	c.each(func(e *expr.Eval) {
		if e != nil {
			e.Share(r)
		}
	})
}

func (f *filter) each(do func(e *expr.Eval)) { do(f.eval) }

func (m *mapper) each(do func(e *expr.Eval)) { all(m.evals, do) }

func (r *router) each(do func(e *expr.Eval)) { all(r.evals, do) }

func (o *over) each(do func(e *expr.Eval)) { all(o.evals, do) }

func (p *pattern) each(do func(e *expr.Eval)) { all(p.evals, do) }

func (j *join) each(do func(e *expr.Eval)) {
	if j.where != nil {
		do(j.where.eval)
	}
	if j.computed != nil {
		all(j.computed.evals, do)
	}
}

func (g *gridded) each(do func(e *expr.Eval)) { g.args.each(do); do(g.emit.having) }

func (c *counted) each(do func(e *expr.Eval)) { c.args.each(do); do(c.emit.having) }

func (s *sessions) each(do func(e *expr.Eval)) { s.args.each(do); do(s.emit.having) }

func (a *arguments) each(do func(e *expr.Eval)) {
	all(a.keys, do)
	all(a.args, do)
}

func all(evals []*expr.Eval, do func(e *expr.Eval)) {
	for _, e := range evals {
		do(e)
	}
}
