package expr

import (
	"math"
	"strings"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// checker gives every node a type. A method returns nil where it has recorded an error; what contains such a node is
// then still checked for errors of its own parts, so that one run reports them all.
type checker struct {
	schema *tuple.Schema
	errs   errorList
	text   bool // checking what stands beside a string: an unknown name may be one without its quotes
}

func (c *checker) fail(pos int, hint, format string, args ...any) *plan {
	c.errs.add(pos, hint, format, args...)
	return nil
}

func (c *checker) check(n *syntax) *plan {
	switch n.form {
	case formName:
		return c.name(n)
	case formString:
		p := constant(tuple.Of(tuple.String), value{s: []byte(n.text)}, n.pos)
		p.lit = litString
		return p
	case formNumber:
		return c.number(n)
	case formTyped:
		return c.typed(n)
	case formNull:
		p := constant(tuple.Type{}, value{null: true}, n.pos)
		p.lit = litNull
		return p
	case formBool:
		return constant(tuple.Of(tuple.Bool), value{b: n.text == "true"}, n.pos)
	case formUnary:
		return c.unary(n)
	case formBinary:
		return c.binary(n)
	case formIs:
		return c.is(n)
	case formIn:
		return c.in(n)
	case formBetween:
		return c.between(n)
	case formLike, formMatches:
		return c.pattern(n)
	case formCase:
		return c.caseOf(n)
	case formCast:
		return c.cast(n)
	}
	return c.call(n)
}

func (c *checker) name(n *syntax) *plan {
	if i, ok := c.schema.Index(n.text); ok {
		f := c.schema.Field(i)
		return (&plan{op: opCol, typ: f.Type, col: i, pos: n.pos, form: f.Form}).finish()
	}
	if len(c.errs) >= maxErrors {
		return nil // looking for near names takes time, and nobody would read it
	}
	if isNullWord(n) {
		return c.fail(n.pos, "missing values are tested with IS NULL and written NULL", "there is no `%s`", n.text)
	}
	hint := spec.DidYouMean(n.text, c.schema.Names())
	for _, name := range c.schema.Names() {
		if strings.HasPrefix(name, n.text+"-") {
			hint = "did you mean " + quoteName(name) + "? Without quotes its hyphen is a minus"
		}
	}
	if !strings.HasPrefix(hint, "did") && isFunction(strings.ToLower(n.text)) {
		hint = "the function is called " + strings.ToLower(n.text) + "(…)"
	}
	if c.text {
		quoted := quoteString(shorten(n.text))
		if strings.HasPrefix(hint, "did") {
			hint = strings.TrimSuffix(hint, "?") + ", or the string " + quoted + "?"
		} else {
			hint = "a string is written " + quoted
		}
	}
	return c.fail(n.pos, hint, "no column `%s`", shorten(n.text))
}

// isNullWord reports whether the node is what some language calls a missing value.
func isNullWord(n *syntax) bool {
	if n.form == formNull {
		return true
	}
	if n.form != formName {
		return false
	}
	switch strings.ToLower(n.text) {
	case "nil", "none", "undefined":
		return true
	}
	return false
}

func (c *checker) unary(n *syntax) *plan {
	a := c.check(n.kids[0])
	if a == nil {
		return nil
	}
	if n.name == "not" {
		if a = c.boolean(a, "NOT"); a == nil {
			return nil
		}
		return negate(a)
	}
	if a.lit == litNull {
		return a
	}
	switch a.typ.Kind {
	case tuple.Int64, tuple.Float64, tuple.Decimal, tuple.Duration:
		return fold(&plan{op: opNeg, typ: a.typ, args: []*plan{a}, pos: n.at})
	}
	return c.fail(n.at, "", "minus needs a number or a duration, got %v", a.typ)
}

// boolean returns a as a condition.
func (c *checker) boolean(a *plan, what string) *plan {
	if a.lit == litNull {
		return constant(tuple.Of(tuple.Bool), value{null: true}, a.pos)
	}
	if a.typ.Kind == tuple.Bool {
		return a
	}
	hint := "write a comparison"
	if a.typ.Kind == tuple.Int64 {
		hint = "write a comparison such as x <> 0"
	}
	return c.fail(a.pos, hint, "%s needs a condition, got %v", what, a.typ)
}

func (c *checker) binary(n *syntax) *plan {
	if n.name == "and" || n.name == "or" {
		return c.logic(n)
	}
	cmp, isCmp := cmpOps[n.name]
	if isCmp && (isNullWord(n.kids[0]) && c.absent(n.kids[0]) || isNullWord(n.kids[1]) && c.absent(n.kids[1])) {
		return c.nullComparison(n, cmp)
	}
	a := c.check(n.kids[0])
	outer := c.text
	c.text = isCmp && a != nil && a.typ.Kind == tuple.String
	b := c.check(n.kids[1])
	c.text = outer
	if a == nil || b == nil {
		return nil
	}
	switch {
	case isCmp:
		return c.compare(n.at, cmp, a, b)
	case n.name == "||":
		return c.concat(n.at, a, b)
	}
	return c.arith(n.at, n.name[0], a, b)
}

// absent reports that no column has the name of n.
func (c *checker) absent(n *syntax) bool {
	_, ok := c.schema.Index(n.text)
	return !ok || n.form == formNull
}

func (c *checker) nullComparison(n *syntax, cmp cmpOp) *plan {
	other := n.kids[0]
	if isNullWord(other) {
		other = n.kids[1]
	}
	if !isNullWord(other) {
		c.check(other)
	}
	word := "IS NULL"
	if cmp == cmpNe {
		word = "IS NOT NULL"
	}
	return c.fail(n.at, "write `"+shorten(other.String())+" "+word+"`; use IS NULL and IS NOT NULL to test for missing values",
		"a comparison with null is never true")
}

func (c *checker) logic(n *syntax) *plan {
	a, b := c.check(n.kids[0]), c.check(n.kids[1])
	word := strings.ToUpper(n.name)
	if a != nil {
		a = c.boolean(a, word)
	}
	if b != nil {
		b = c.boolean(b, word)
	}
	if a == nil || b == nil {
		return nil
	}
	return logic(n.name == "and", a, b, n.at)
}

// logic returns a AND b, or a OR b. A constant left side that decides, decides now; the right side is then never
// evaluated, as for any row that the left side decides.
func logic(and bool, a, b *plan, pos int) *plan {
	if a.isConst() && !a.val.null {
		if a.val.b == and {
			return b
		}
		return a
	}
	o := opOr
	if and {
		o = opAnd
	}
	return fold(&plan{op: o, typ: tuple.Of(tuple.Bool), args: []*plan{a, b}, pos: pos})
}

// negate returns NOT p, moved inwards so that selections stay direct.
func negate(p *plan) *plan {
	switch p.op {
	case opCompare:
		q := *p
		q.cmp = p.cmp.negated()
		return &q
	case opRange, opIsNull, opIsBool, opIn, opInSet, opBetween:
		q := *p
		q.not = !p.not
		return &q
	case opNot:
		return p.args[0]
	case opAnd, opOr:
		return logic(p.op == opOr, negate(p.args[0]), negate(p.args[1]), p.pos)
	}
	return fold(&plan{op: opNot, typ: p.typ, args: []*plan{p}, pos: p.pos})
}

func (c *checker) is(n *syntax) *plan {
	a := c.check(n.kids[0])
	if a == nil {
		return nil
	}
	b := tuple.Of(tuple.Bool)
	if n.name == "null" {
		if a.lit == litNull {
			a = constant(b, value{null: true}, a.pos)
		}
		return fold(&plan{op: opIsNull, typ: b, args: []*plan{a}, not: n.not, pos: n.at})
	}
	if a = c.boolean(a, "IS "+strings.ToUpper(n.name)); a == nil {
		return nil
	}
	return fold(&plan{op: opIsBool, typ: b, args: []*plan{a}, val: value{b: n.name == "true"}, not: n.not, pos: n.at})
}

func (c *checker) cast(n *syntax) *plan {
	a := c.check(n.kids[0])
	if a == nil {
		return nil
	}
	to, err := tuple.ParseType(n.name)
	if err != nil {
		return c.fail(n.at, "", "%v", err)
	}
	if a.lit == litString || a.lit == litNumber && to.Kind == tuple.Decimal {
		return c.adapt(a, to, "CAST")
	}
	return c.castTo(a, to, n.at)
}

func (c *checker) castTo(a *plan, to tuple.Type, pos int) *plan {
	switch {
	case a.lit == litNull:
		return constant(to, value{null: true}, pos)
	case a.typ == to:
		return a
	case !canCast(a.typ, to):
		return c.fail(pos, castAdvice(a.typ, to), "%v cannot be cast to %v", a.typ, to)
	}
	return fold(&plan{op: opCast, typ: to, args: []*plan{a}, pos: pos})
}

// widen returns a as float64.
func widen(a *plan) *plan {
	switch {
	case a.typ.Kind == tuple.Float64:
		return a
	case a.isConst() && a.typ.Kind == tuple.Int64 && !a.val.null && int64(float64(a.val.i)) == a.val.i && a.val.i != math.MaxInt64:
		return constant(tuple.Of(tuple.Float64), value{f: float64(a.val.i)}, a.pos)
	}
	return fold(&plan{op: opCast, typ: tuple.Of(tuple.Float64), args: []*plan{a}, pos: a.pos})
}
