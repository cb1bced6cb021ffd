package expr

import (
	"strings"

	"fednode/query/tuple"
)

// caseOf types both forms of CASE.
func (c *checker) caseOf(n *syntax) *plan {
	p := &plan{op: opCase, pos: n.at}
	var conds, results []*plan
	for i := 0; i < len(n.kids); i += 2 {
		conds, results = append(conds, c.check(n.kids[i])), append(results, c.check(n.kids[i+1]))
	}
	if n.other != nil {
		results = append(results, c.check(n.other))
	}
	ok := c.conditions(p, n, conds)
	t, unified := c.unify("CASE", results)
	if !ok || !unified {
		return nil
	}
	p.typ = t
	for i, cond := range conds {
		p.args = append(p.args, cond, results[i])
	}
	if n.other != nil {
		p.other = results[len(conds)]
	}
	return fold(p)
}

// conditions types what stands after WHEN: conditions, or values to compare with the operand of the short form.
func (c *checker) conditions(p *plan, n *syntax, conds []*plan) bool {
	if n.base != nil {
		p.base = c.check(n.base)
	}
	for _, cond := range conds {
		if cond == nil || n.base != nil && p.base == nil {
			return false
		}
	}
	if n.base != nil {
		if p.base = c.settle(p.base, conds); p.base == nil {
			return false
		}
	}
	ok := true
	for i, cond := range conds {
		if n.base == nil {
			conds[i] = c.boolean(cond, "WHEN")
		} else if _, v, class := c.meet(cond.pos, p.base, cond); class != classNone {
			conds[i] = v
		} else {
			conds[i] = nil
		}
		ok = ok && conds[i] != nil
	}
	return ok
}

// isSpecial reports the functions whose types or evaluation need more than a table entry.
func isSpecial(name string) bool {
	switch name {
	case "coalesce", "nullif", "if", "greatest", "least":
		return true
	}
	return false
}

func (c *checker) special(n *syntax) *plan {
	args, ok := c.args(n)
	switch n.name {
	case "nullif", "if":
		want := 2
		if n.name == "if" {
			want = 3
		}
		if len(args) != want {
			return c.fail(n.at, "write "+specialUse(n.name), "%s takes %d arguments, got %d", n.name, want, len(args))
		}
	default:
		if len(args) == 0 {
			return c.fail(n.at, "write "+specialUse(n.name), "%s needs at least one argument", n.name)
		}
	}
	if !ok {
		return nil
	}
	switch n.name {
	case "if":
		cond := c.boolean(args[0], "if")
		results := args[1:]
		t, ok := c.unify("if", results)
		if cond == nil || !ok {
			return nil
		}
		return fold(&plan{op: opCase, typ: t, args: []*plan{cond, results[0]}, other: results[1], pos: n.at})
	case "nullif":
		return c.nullIf(n, args)
	case "coalesce":
		t, ok := c.unify("coalesce", args)
		if !ok {
			return nil
		}
		return fold(&plan{op: opCoalesce, typ: t, args: args, pos: n.at})
	}
	return c.extreme(n, args)
}

func specialUse(name string) string {
	for _, d := range specialDocs {
		if d.Name == name {
			return d.Signature
		}
	}
	return name
}

func (c *checker) nullIf(n *syntax, args []*plan) *plan {
	a, b, class := c.meet(n.at, args[0], args[1])
	if class == classNone {
		return nil
	}
	return fold(&plan{op: opNullIf, typ: a.typ, args: []*plan{a, b}, class: class, pos: n.at})
}

// extreme types greatest and least, which skip nulls.
func (c *checker) extreme(n *syntax, args []*plan) *plan {
	t, ok := c.unify(n.name, args)
	if !ok {
		return nil
	}
	fn := leastFunction
	if n.name == "greatest" {
		fn = greatestFunction
	}
	return fold(&plan{op: opCall, typ: t, fn: fn, args: args, pos: n.at})
}

func (c *checker) args(n *syntax) (args []*plan, ok bool) {
	ok = true
	for _, k := range n.kids {
		a := c.check(k)
		ok = ok && a != nil
		args = append(args, a)
	}
	return args, ok
}

// pattern types LIKE and MATCHES: calls whose pattern is made ready once.
func (c *checker) pattern(n *syntax) *plan {
	args, ok := c.args(n)
	if !ok {
		return nil
	}
	fn, what := likeOperator, "LIKE"
	if n.form == formMatches {
		fn, what = matchesOperator, "MATCHES"
	}
	str := tuple.Of(tuple.String)
	for i, a := range args {
		if a.typ != str && a.lit != litNull {
			return c.fail(a.pos, castAdvice(a.typ, str), "%s needs strings, got %v", what, a.typ)
		}
		args[i] = c.adapt(a, str, what)
	}
	p := c.finishCall(&plan{op: opCall, typ: tuple.Of(tuple.Bool), fn: fn, args: args, pos: n.at})
	if p != nil && n.not {
		return negate(p)
	}
	return p
}

// call types a call of a function of the table.
func (c *checker) call(n *syntax) *plan {
	if isSpecial(n.name) {
		return c.special(n)
	}
	list := functionsNamed(n.name)
	if len(list) == 0 {
		c.args(n)
		return c.noFunction(n)
	}
	args, ok := c.args(n)
	if !ok {
		return nil
	}
	fn := c.choose(n, list, args)
	if fn == nil {
		return nil
	}
	for i, a := range args {
		want := fn.param(i)
		if fn.element && i == 1 {
			if args[1] = c.adapt(a, args[0].typ.ElemType(), n.name); args[1] == nil {
				return nil
			}
			continue
		}
		if want.kind == tuple.Invalid || want.kind == a.typ.Kind && (want.kind == tuple.Decimal || want.kind == tuple.List) {
			if a.lit == litNull {
				return c.fail(a.pos, "write CAST(NULL AS int64)", "the type of NULL is not known here")
			}
			continue
		}
		if args[i] = c.adapt(a, tuple.Of(want.kind), n.name); args[i] == nil {
			return nil
		}
	}
	p := &plan{op: opCall, typ: fn.resultOf(args), fn: fn, args: args, pos: n.at}
	return c.finishCall(p)
}

// finishCall checks what depends on the values and origins of the arguments, and makes constant ones ready.
func (c *checker) finishCall(p *plan) *plan {
	for i, a := range p.args {
		if p.fn.address && (a.form == tuple.Pseudonym || a.form == tuple.Hashed) {
			return c.fail(a.pos, "ask the owner for prefix-preserving pseudonyms, or compare for equality only",
				"%s means nothing on addresses exported as %v", p.fn.name, a.form)
		}
		if p.fn.param(i).constant && !a.isConst() {
			return c.fail(a.pos, "write the value itself", "argument %d of %s must be a constant", i+1, p.fn.name)
		}
	}
	if p.fn.check != nil {
		if i, err := p.fn.check(p.args); err != nil {
			return c.fail(p.args[i].pos, "", "%v", err)
		}
	}
	if p.fn.prepare != nil {
		state, i, err := p.fn.prepare(p.args)
		if err != nil {
			return c.fail(p.args[i].pos, "", "%v", err)
		}
		p.state = state
	}
	return fold(p)
}

func (c *checker) noFunction(n *syntax) *plan {
	if len(c.errs) >= maxErrors {
		return nil
	}
	hint := didYouMeanFunction(n.name)
	if strings.Contains(aggregateNames, " "+n.name+" ") {
		hint = "it is an aggregate: write it under `aggregates` of an aggregate operator"
	}
	switch n.name {
	case "now", "current_timestamp", "today", "random", "rand", "uuid":
		hint = "results must be the same in every run, so expressions know no clock and no chance; use a timestamp column, or hash64"
	}
	return c.fail(n.at, hint, "no function `%s`", shorten(n.name))
}

// aggregateNames are functions of the aggregate operator, which people try in expressions.
const aggregateNames = " count sum min max avg stddev stddev_pop first last count_distinct approx_count_distinct top_k quantile collect "
