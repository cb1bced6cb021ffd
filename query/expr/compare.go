package expr

import (
	"strconv"

	"fednode/query/tuple"
)

// cmpOp is a comparison operator.
type cmpOp uint8

const (
	cmpEq cmpOp = iota
	cmpNe
	cmpLt
	cmpGe
	cmpGt
	cmpLe
)

var cmpOps = map[string]cmpOp{"=": cmpEq, "!=": cmpNe, "<": cmpLt, ">=": cmpGe, ">": cmpGt, "<=": cmpLe}

// negated returns the operator that holds exactly where op does not; the order of the constants pairs them.
func (op cmpOp) negated() cmpOp { return op ^ 1 }

// swapped returns the operator of b op' a for a op b.
func (op cmpOp) swapped() cmpOp {
	switch op {
	case cmpLt:
		return cmpGt
	case cmpGt:
		return cmpLt
	case cmpLe:
		return cmpGe
	case cmpGe:
		return cmpLe
	}
	return op
}

// holds reports whether a three-way result fulfils op.
func (op cmpOp) holds(three int) bool {
	switch op {
	case cmpEq:
		return three == 0
	case cmpNe:
		return three != 0
	case cmpLt:
		return three < 0
	case cmpGe:
		return three >= 0
	case cmpGt:
		return three > 0
	}
	return three <= 0
}

// cmpClass says how two types are compared. Numbers of different types compare by their exact values.
type cmpClass uint8

const (
	classNone  cmpClass = iota
	classInt            // both in Column.Int, of one unit
	classFloat          // float64, in the system's total order
	classBool
	classBin
	classMixed // int64, float64 and decimals, exactly
)

func classOf(a, b tuple.Type) cmpClass {
	number := func(t tuple.Type) bool {
		return t.Kind == tuple.Int64 || t.Kind == tuple.Float64 || t.Kind == tuple.Decimal
	}
	switch {
	case a == b && a.Kind.IsInt():
		return classInt
	case a == b && a.Kind == tuple.Float64:
		return classFloat
	case a == b && a.Kind == tuple.Bool:
		return classBool
	case a == b && a.Kind.IsBinary():
		return classBin
	case number(a) && number(b):
		return classMixed
	}
	return classNone
}

// meet lets the literals among a and b take the other's type, and says how the two compare. It returns classNone after
// recording an error.
func (c *checker) meet(pos int, a, b *plan) (x, y *plan, class cmpClass) {
	if a = c.toward(a, b); a != nil {
		b = c.toward(b, a)
	}
	if a == nil || b == nil {
		return nil, nil, classNone
	}
	if class = classOf(a.typ, b.typ); class == classNone {
		c.fail(pos, compareAdvice(a, b), "%v and %v cannot be compared", a.typ, b.typ)
	}
	return a, b, class
}

// toward returns the literal a as the type of b where that is how it must have been meant.
func (c *checker) toward(a, b *plan) *plan {
	switch {
	case a.lit == litNull && b.lit != litNull:
		return constant(b.typ, value{null: true}, a.pos)
	case a.lit == litNumber && b.typ.Kind == tuple.Decimal:
		return c.decimal(a)
	case a.lit == litString && b.lit != litString:
		switch b.typ.Kind {
		case tuple.Timestamp, tuple.Duration, tuple.IP, tuple.CIDR, tuple.Bytes:
			return c.adapt(a, b.typ, "")
		}
	}
	return a
}

func compareAdvice(a, b *plan) string {
	one, two := a.typ.Kind, b.typ.Kind
	pair := func(x, y tuple.Kind) bool { return one == x && two == y || one == y && two == x }
	switch {
	case one == tuple.List || two == tuple.List:
		return "use contains_element(list, x), element_at(list, i) or len(list)"
	case pair(tuple.IP, tuple.CIDR):
		return "write ip_in(address, prefix)"
	case pair(tuple.Timestamp, tuple.Int64):
		return "write timestamp '2026-11-29T10:00:00Z', or from_unix(n, 's')"
	case pair(tuple.Duration, tuple.Int64):
		return "write duration '5m'"
	case a.lit == litString && isDigits(a) || b.lit == litString && isDigits(b):
		return "write the value without quotes"
	case one == tuple.String && b.lit == litInt || two == tuple.String && a.lit == litInt:
		return "write the value in quotes"
	case two == tuple.String && b.lit == litString:
		return castAdvice(b.typ, a.typ)
	case one == tuple.String || two == tuple.String:
		return castAdvice(a.typ, b.typ)
	}
	return ""
}

// isDigits reports whether a literal in quotes would be a number without them.
func isDigits(p *plan) bool {
	_, err := strconv.ParseFloat(string(p.val.s), 64)
	return err == nil && p.val.s[len(p.val.s)-1] <= '9'
}

func (c *checker) compare(pos int, cmp cmpOp, a, b *plan) *plan {
	a, b, class := c.meet(pos, a, b)
	if class == classNone {
		return nil
	}
	if a.isConst() && !b.isConst() {
		a, b, cmp = b, a, cmp.swapped()
	}
	out := tuple.Of(tuple.Bool)
	if b.isConst() && !b.val.null && a.typ.Kind.IsInt() {
		p := &plan{op: opRange, typ: out, args: []*plan{a}, pos: pos}
		p.lo, p.hi, p.not = rangeOf(cmp, a.typ, b)
		return fold(p)
	}
	return fold(&plan{op: opCompare, typ: out, args: []*plan{a, b}, cmp: cmp, class: class, pos: pos})
}

func (c *checker) between(n *syntax) *plan {
	a, lo, hi := c.check(n.kids[0]), c.check(n.kids[1]), c.check(n.kids[2])
	if a == nil || lo == nil || hi == nil {
		return nil
	}
	if a = c.settle(a, []*plan{lo, hi}); a == nil {
		return nil
	}
	_, lo, first := c.meet(n.kids[1].pos, a, lo)
	_, hi, second := c.meet(n.kids[2].pos, a, hi)
	if first == classNone || second == classNone {
		return nil
	}
	p := &plan{op: opBetween, typ: tuple.Of(tuple.Bool), args: []*plan{a, lo, hi}, class: first, classHi: second, not: n.not, pos: n.at}
	if a.typ.Kind.IsInt() && lo.isConst() && hi.isConst() && !lo.val.null && !hi.val.null {
		return fold(rangeBetween(p))
	}
	return fold(p)
}

// rangeBetween turns a BETWEEN of constants into one range.
func rangeBetween(p *plan) *plan {
	from, last, below := rangeOf(cmpGe, p.args[0].typ, p.args[1])
	if below { // x >= lo is the complement of [from, last]
		from, last, below = complement(from, last)
	}
	first, to, above := rangeOf(cmpLe, p.args[0].typ, p.args[2])
	q := &plan{op: opRange, typ: p.typ, args: p.args[:1], pos: p.pos, not: p.not}
	q.lo, q.hi = max(from, first), min(last, to)
	if below || above || q.lo > q.hi {
		q.lo, q.hi, q.not = minInt, maxInt, !p.not
	}
	return q
}

func (c *checker) in(n *syntax) *plan {
	list, ok := c.args(n)
	if !ok {
		return nil
	}
	a, items := c.settle(list[0], list[1:]), list[1:]
	if a == nil {
		return nil
	}
	for i, item := range items {
		var class cmpClass
		if _, items[i], class = c.meet(item.pos, a, item); class == classNone {
			ok = false
		}
	}
	if !ok {
		return nil
	}
	p := &plan{op: opIn, typ: tuple.Of(tuple.Bool), args: append([]*plan{a}, items...), not: n.not, pos: n.at}
	if set := newConstSet(a.typ, items); set != nil {
		p.op, p.set, p.args = opInSet, set, p.args[:1]
	}
	return fold(p)
}

// settle gives a literal that is compared with several values the type of the first that is none, so that it has one
// type for all of them.
func (c *checker) settle(a *plan, others []*plan) *plan {
	for _, o := range others {
		if a == nil || a.lit == litNone {
			return a
		}
		if o.lit == litNone {
			a = c.toward(a, o)
		}
	}
	for _, o := range others {
		if a.lit == litNull && o.lit != litNull {
			return constant(o.typ, value{null: true}, a.pos)
		}
	}
	if a.lit == litNull {
		return c.fail(a.pos, "use IS NULL to test for missing values", "a comparison of NULL with NULL is never true")
	}
	return a
}
