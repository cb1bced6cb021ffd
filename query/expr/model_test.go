package expr

import (
	"math"
	"math/big"
	"slices"

	"fednode/query/tuple"
)

// model is the slow, obvious meaning of a typed tree: one row at a time, one value at a time, numbers in big rationals.
// The kernels are tested against it.
type model struct {
	b        *tuple.Batch
	row      int
	counters Counters
}

func (m *model) fault(f fault) value {
	m.counters.count(f)
	return value{null: true}
}

func (m *model) value(p *plan) value {
	switch p.op {
	case opConst:
		return p.val
	case opCol:
		return valueAt(&m.b.Cols[p.col], m.row)
	case opAnd, opOr:
		return m.logic(p)
	case opCase:
		return m.choose(p)
	case opCoalesce:
		for _, a := range p.args {
			if v := m.value(a); !v.null {
				return v
			}
		}
		return value{null: true}
	}
	args := make([]value, len(p.args))
	for i, a := range p.args {
		if a.typ.Kind != tuple.List {
			args[i] = m.value(a)
		}
	}
	return m.apply(p, args)
}

func (m *model) logic(p *plan) value {
	decides := p.op == opOr
	l := m.value(p.args[0])
	if !l.null && l.b == decides {
		return l
	}
	r := m.value(p.args[1])
	switch {
	case !r.null && r.b == decides:
		return r
	case l.null || r.null:
		return value{null: true}
	}
	return value{b: !decides}
}

func (m *model) choose(p *plan) value {
	base := value{}
	if p.base != nil {
		base = m.value(p.base)
	}
	for i := 0; i < len(p.args); i += 2 {
		c := m.value(p.args[i])
		if p.base != nil {
			c = value{b: !c.null && !base.null && compareModel(p.base.typ, base, p.args[i].typ, c) == 0}
		}
		if !c.null && c.b {
			return m.value(p.args[i+1])
		}
	}
	if p.other != nil {
		return m.value(p.other)
	}
	return value{null: true}
}

func (m *model) apply(p *plan, a []value) value {
	switch p.op {
	case opIsNull:
		return value{b: m.isNull(p.args[0], a[0]) != p.not}
	case opIsBool:
		return value{b: (!a[0].null && a[0].b == p.val.b) != p.not}
	case opIn, opInSet, opBetween:
		return m.tests(p, a)
	case opNullIf:
		if !a[0].null && !a[1].null && compareModel(p.args[0].typ, a[0], p.args[1].typ, a[1]) == 0 {
			return value{null: true}
		}
		return a[0]
	case opCall:
		return m.call(p, a)
	}
	for _, v := range a {
		if v.null {
			return v
		}
	}
	switch p.op {
	case opNot:
		return value{b: !a[0].b}
	case opNeg:
		if p.typ.Kind == tuple.Float64 {
			return value{f: -a[0].f}
		}
		return m.arith('-', p.typ, tuple.Of(tuple.Int64), value{}, p.typ, a[0])
	case opArith:
		return m.arith(p.arith, p.typ, p.args[0].typ, a[0], p.args[1].typ, a[1])
	case opCompare:
		return value{b: p.cmp.holds(compareModel(p.args[0].typ, a[0], p.args[1].typ, a[1]))}
	case opRange:
		return value{b: (a[0].i >= p.lo && a[0].i <= p.hi) != p.not}
	}
	return m.call(p, a)
}

func (m *model) isNull(p *plan, v value) bool {
	if p.typ.Kind == tuple.List {
		return m.b.Cols[p.col].IsNull(m.row)
	}
	return v.null
}

func (m *model) tests(p *plan, a []value) value {
	x := a[0]
	unknown, found := x.null, false
	switch p.op {
	case opInSet:
		unknown = unknown || p.set.hasNull
		found = !x.null && (slices.Contains(p.set.ints, x.i) && p.args[0].typ.Kind.IsInt())
		if p.args[0].typ.Kind.IsBinary() {
			_, found = p.set.bins[string(x.s)]
		} else if p.args[0].typ.Kind == tuple.Float64 {
			_, found = p.set.floats[tuple.FloatBits(x.f)]
		}
	case opIn:
		for i, v := range a[1:] {
			unknown = unknown || v.null
			found = found || !v.null && !x.null && compareModel(p.args[0].typ, x, p.args[i+1].typ, v) == 0
		}
	case opBetween:
		fails := !x.null && !a[1].null && compareModel(p.args[0].typ, x, p.args[1].typ, a[1]) < 0 ||
			!x.null && !a[2].null && compareModel(p.args[0].typ, x, p.args[2].typ, a[2]) > 0
		if fails {
			return value{b: p.not}
		}
		if x.null || a[1].null || a[2].null {
			return value{null: true}
		}
		return value{b: !p.not}
	}
	if x.null || unknown && !found {
		return value{null: true}
	}
	return value{b: found != p.not}
}

// exact returns a number as a rational.
func exact(t tuple.Type, v value) *big.Rat { return ratOf(t, v) }

func (m *model) arith(op byte, t, ta tuple.Type, a value, tb tuple.Type, b value) value {
	if t.Kind == tuple.Float64 {
		return m.floats(op, a.f, b.f)
	}
	if ta.Kind != tuple.Decimal && t.Kind != tuple.Decimal {
		ta, tb = tuple.Of(tuple.Int64), tuple.Of(tuple.Int64)
	}
	x, y, r := exact(ta, a), exact(tb, b), new(big.Rat)
	switch op {
	case '+':
		r.Add(x, y)
	case '-':
		r.Sub(x, y)
	case '*':
		r.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return m.fault(faultZero)
		}
		r.Quo(x, y)
		if op == '%' {
			whole := new(big.Int).Quo(r.Num(), r.Denom())
			r.Sub(x, new(big.Rat).Mul(y, new(big.Rat).SetInt(whole)))
		}
	}
	r.Mul(r, new(big.Rat).SetInt(pow10Big(t.Scale)))
	n := new(big.Int).Quo(r.Num(), r.Denom()) // toward zero
	if t.Kind == tuple.Decimal {
		n = halfEven(r)
	}
	if !n.IsInt64() || t.Kind == tuple.Decimal && new(big.Int).Abs(n).Cmp(big.NewInt(maxDecimal)) > 0 {
		return m.fault(faultRange)
	}
	return value{i: n.Int64()}
}

func halfEven(r *big.Rat) *big.Int {
	twice := new(big.Int).Mul(r.Num(), big.NewInt(2))
	q, rem := new(big.Int).DivMod(twice.Add(twice, r.Denom()), new(big.Int).Mul(r.Denom(), big.NewInt(2)), new(big.Int))
	if rem.Sign() == 0 && q.Bit(0) == 1 { // exactly between, and rounded up to odd
		q.Sub(q, big.NewInt(1))
	}
	return q
}

func (m *model) floats(op byte, a, b float64) value {
	switch op {
	case '+':
		return value{f: a + b}
	case '-':
		return value{f: a - b}
	case '*':
		return value{f: a * b}
	}
	if b == 0 {
		return m.fault(faultZero)
	}
	if op == '/' {
		return value{f: a / b}
	}
	return value{f: math.Mod(a, b)}
}

func compareModel(ta tuple.Type, a value, tb tuple.Type, b value) int {
	special := func(t tuple.Type, v value) bool {
		return t.Kind == tuple.Float64 && (math.IsNaN(v.f) || math.IsInf(v.f, 0))
	}
	if isNumber(ta.Kind) && isNumber(tb.Kind) {
		if special(ta, a) || special(tb, b) {
			return tuple.CompareFloat(asFloat(ta, a), asFloat(tb, b))
		}
		return exact(ta, a).Cmp(exact(tb, b))
	}
	x, y := oneRow(ta, a), oneRow(tb, b)
	return x.Compare(0, y, 0)
}

func asFloat(t tuple.Type, v value) float64 {
	if t.Kind == tuple.Float64 {
		return v.f
	}
	return 0 // only ever beside NaN or an infinity
}

// oneRow is a column of one value.
func oneRow(t tuple.Type, v value) *tuple.Column {
	e := newEval(constant(t, v, 0))
	return e.evalOne()
}

// call runs a function on a row of its own: that tests what batches, selections and dictionaries do to it, not what the
// function computes, which has scripts.
func (m *model) call(p *plan, a []value) value {
	q := *p
	b := &tuple.Batch{Time: []tuple.Time{0}}
	q.args = nil
	for i, arg := range p.args {
		col := &plan{op: opCol, typ: arg.typ, col: i}
		q.args = append(q.args, col.finish())
		if arg.typ.Kind == tuple.List {
			b.Cols = append(b.Cols, m.b.Cols[arg.col].Slice(m.row, m.row+1))
			continue
		}
		b.Cols = append(b.Cols, *oneRow(arg.typ, a[i]))
	}
	e := &Eval{room: NewRoom(ownRoom)}
	e.root = e.buildNode(q.finish())
	v := valueAt(e.Eval(b), 0)
	m.counters.DivByZero += e.counters.DivByZero
	m.counters.Overflow += e.counters.Overflow
	return v
}
