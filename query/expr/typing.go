package expr

import (
	"strings"

	"fednode/query/tuple"
)

// Scale of a decimal quotient: six digits more than the finer operand, as for averages.
const quotientDigits = 6

// arith types a op b. The rules:
//
//	int64 op int64           int64; / truncates toward zero
//	with a float64           float64
//	decimal, int64           decimal; + - % have the larger scale, * the sum, / the larger plus 6 (at most 18, half to even)
//	timestamp ± duration     timestamp
//	timestamp - timestamp    duration
//	duration ± % duration    duration; duration / duration is float64
//	duration * or / number   duration (a float rounds half to even)
func (c *checker) arith(pos int, op byte, a, b *plan) *plan {
	if a.lit == litNull && b.lit == litNull {
		return c.fail(pos, "write CAST(NULL AS int64)", "the type of NULL %c NULL is not known", op)
	}
	a, b = c.operands(op, a, b)
	if a == nil || b == nil {
		return nil
	}
	x, y := a.typ.Kind, b.typ.Kind
	switch {
	case x == tuple.Int64 && y == tuple.Int64:
		return arithPlan(pos, op, a.typ, a, b)
	case isNumber(x) && isNumber(y) && (x == tuple.Float64 || y == tuple.Float64):
		return arithPlan(pos, op, tuple.Of(tuple.Float64), widen(a), widen(b))
	case isNumber(x) && isNumber(y):
		return c.decimalArith(pos, op, a, b)
	case x == tuple.Timestamp || x == tuple.Duration || y == tuple.Timestamp || y == tuple.Duration:
		if p := timeArith(pos, op, a, b); p != nil {
			return p
		}
	}
	return c.fail(pos, arithAdvice(op, a, b), "%v %c %v is not defined", a.typ, op, b.typ)
}

func isNumber(k tuple.Kind) bool {
	return k == tuple.Int64 || k == tuple.Float64 || k == tuple.Decimal
}

// operands lets literals take the type that the other operand asks for.
func (c *checker) operands(op byte, a, b *plan) (x, y *plan) {
	durationFor := func(s, other *plan) *plan {
		if s.lit != litString || op != '+' && op != '-' {
			return s
		}
		if k := other.typ.Kind; k != tuple.Timestamp && k != tuple.Duration {
			return s
		}
		if v, ok := readValue(string(s.val.s), tuple.Of(tuple.Duration)); ok {
			return constant(tuple.Of(tuple.Duration), v, s.pos)
		}
		if op == '-' && other.typ.Kind == tuple.Timestamp {
			return c.adapt(s, other.typ, "")
		}
		return c.adapt(s, tuple.Of(tuple.Duration), "")
	}
	switch {
	case a.lit == litNull:
		return constant(b.typ, value{null: true}, a.pos), b
	case b.lit == litNull:
		return a, constant(a.typ, value{null: true}, b.pos)
	case a.lit == litNumber && b.typ.Kind == tuple.Decimal:
		return c.decimal(a), b
	case b.lit == litNumber && a.typ.Kind == tuple.Decimal:
		return a, c.decimal(b)
	case a.lit == litString:
		return durationFor(a, b), b
	}
	return a, durationFor(b, a)
}

func arithPlan(pos int, op byte, t tuple.Type, a, b *plan) *plan {
	return fold(&plan{op: opArith, typ: t, arith: op, args: []*plan{a, b}, pos: pos})
}

func (c *checker) decimalArith(pos int, op byte, a, b *plan) *plan {
	s, t := a.typ.Scale, b.typ.Scale
	scale := max(s, t)
	switch op {
	case '*':
		scale = s + t
		if scale > tuple.MaxScale {
			return c.fail(pos, "round one of them first, as in CAST(x AS decimal(18,2))",
				"%v * %v needs %d fraction digits; a decimal has at most %d", a.typ, b.typ, scale, tuple.MaxScale)
		}
	case '/':
		scale = min(scale+quotientDigits, tuple.MaxScale)
	}
	return arithPlan(pos, op, tuple.DecimalType(scale), a, b)
}

// timeArith types what timestamps and durations allow; nil if not defined.
func timeArith(pos int, op byte, a, b *plan) *plan {
	ts, dur, f64 := tuple.Of(tuple.Timestamp), tuple.Of(tuple.Duration), tuple.Of(tuple.Float64)
	x, y := a.typ.Kind, b.typ.Kind
	both := func(k tuple.Kind) bool { return x == k && y == k }
	switch {
	case x == tuple.Timestamp && y == tuple.Duration && (op == '+' || op == '-'),
		x == tuple.Duration && y == tuple.Timestamp && op == '+':
		return arithPlan(pos, op, ts, a, b)
	case both(tuple.Timestamp) && op == '-', both(tuple.Duration) && (op == '+' || op == '-' || op == '%'):
		return arithPlan(pos, op, dur, a, b)
	case both(tuple.Duration) && op == '/':
		return arithPlan(pos, op, f64, durationFloat(a), durationFloat(b))
	case x == tuple.Duration && y == tuple.Int64 && (op == '*' || op == '/'), x == tuple.Int64 && y == tuple.Duration && op == '*':
		return arithPlan(pos, op, dur, a, b)
	case x == tuple.Duration && (y == tuple.Float64 || y == tuple.Decimal) && (op == '*' || op == '/'):
		return floatDuration(arithPlan(pos, op, f64, durationFloat(a), widen(b)))
	case (x == tuple.Float64 || x == tuple.Decimal) && y == tuple.Duration && op == '*':
		return floatDuration(arithPlan(pos, op, f64, widen(a), durationFloat(b)))
	}
	return nil
}

// durationFloat is the microseconds of a duration as a float, floatDuration the way back; neither is a cast that an
// expression can ask for, since people would take the number for seconds.
func durationFloat(a *plan) *plan {
	return fold(&plan{op: opCast, typ: tuple.Of(tuple.Float64), args: []*plan{a}, pos: a.pos})
}

func floatDuration(a *plan) *plan {
	return fold(&plan{op: opCast, typ: tuple.Of(tuple.Duration), args: []*plan{a}, pos: a.pos})
}

func arithAdvice(op byte, a, b *plan) string {
	x, y := a.typ.Kind, b.typ.Kind
	switch {
	case op == '+' && (x == tuple.String || y == tuple.String):
		return "strings are joined with ||"
	case (x == tuple.Timestamp || x == tuple.Duration) && y == tuple.Int64:
		return "write duration '5m', or n * duration '1s'"
	case x == tuple.String && isNumber(y):
		return castAdvice(a.typ, b.typ)
	case y == tuple.String && isNumber(x):
		return castAdvice(b.typ, a.typ)
	}
	return ""
}

func (c *checker) concat(pos int, a, b *plan) *plan {
	str, byt := tuple.Of(tuple.String), tuple.Of(tuple.Bytes)
	t := str
	if a.typ == byt || b.typ == byt {
		t = byt
	}
	for _, p := range []*plan{a, b} {
		if p.typ != t && p.lit != litNull && !(p.lit == litString && t == byt) {
			return c.fail(p.pos, "write "+"CAST(… AS "+t.String()+")", "|| joins strings, or bytes; got %v", p.typ)
		}
	}
	a, b = c.adapt(a, t, "||"), c.adapt(b, t, "||")
	if a == nil || b == nil {
		return nil
	}
	return fold(&plan{op: opCall, typ: t, fn: concatOperator, args: []*plan{a, b}, pos: pos})
}

// unify gives the values of one result (of CASE, coalesce, greatest) one type: literals adapt, numbers widen.
func (c *checker) unify(what string, list []*plan) (tuple.Type, bool) {
	t, ok := tuple.Type{}, c.decimals(list)
	for _, p := range list {
		if p == nil {
			return t, false
		}
		switch {
		case p.lit == litNull || p.lit == litString && t.Kind != tuple.Invalid:
		case p.typ.Kind == tuple.List:
			c.fail(p.pos, "take an element with element_at", "%s does not choose between lists", what)
			ok = false
		case t.Kind == tuple.Invalid:
			t = p.typ
		default:
			t = wider(t, p.typ)
		}
	}
	// A string literal gives way to what the others are.
	for _, p := range list {
		if p.lit != litNull && p.lit != litString && !isNumber(p.typ.Kind) {
			t = p.typ
			break
		}
	}
	if t.Kind == tuple.Invalid && ok {
		c.fail(list[0].pos, "write CAST(NULL AS int64)", "%s has nothing but NULL; its type is not known", what)
		return t, false
	}
	for i, p := range list {
		if q := c.adapt(p, t, strings.ToLower(what)); q != nil {
			list[i] = q
		} else {
			ok = false
		}
	}
	return t, ok
}

// decimals makes the literals with a point decimals where the list has a decimal and nothing that is a float.
func (c *checker) decimals(list []*plan) bool {
	hasDecimal := false
	for _, p := range list {
		if p != nil && p.typ.Kind == tuple.Float64 && p.lit != litNumber {
			return true
		}
		hasDecimal = hasDecimal || p != nil && p.typ.Kind == tuple.Decimal
	}
	for i, p := range list {
		if hasDecimal && p != nil && p.lit == litNumber {
			list[i] = c.decimal(p)
		}
	}
	return true
}

// wider returns the type that holds the values of both, a if there is none.
func wider(a, b tuple.Type) tuple.Type {
	switch {
	case !isNumber(a.Kind) || !isNumber(b.Kind):
		return a
	case a.Kind == tuple.Float64 || b.Kind == tuple.Float64:
		return tuple.Of(tuple.Float64)
	case a.Kind == tuple.Decimal || b.Kind == tuple.Decimal:
		return tuple.DecimalType(max(a.Scale, b.Scale))
	}
	return a
}
