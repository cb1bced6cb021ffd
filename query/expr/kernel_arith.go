package expr

import (
	"math"
	"math/bits"

	"fednode/query/tuple"
)

func (e *Eval) buildArith(p *plan, out vec) kernel {
	a := e.build(p.args[0])
	if p.op == opNeg {
		if p.typ.Kind == tuple.Float64 {
			return &negFloat{arg: a, out: out}
		}
		zero := &constKernel{out: vec{Column: tuple.Column{Type: p.typ}}}
		return &intArith{a: zero, b: a, op: '-', counters: &e.counters, out: out}
	}
	b := e.build(p.args[1])
	switch {
	case p.typ.Kind == tuple.Float64:
		return &floatArith{a: a, b: b, op: p.arith, counters: &e.counters, out: out}
	case p.typ.Kind == tuple.Decimal:
		k := &decimalArith{a: a, b: b, op: p.arith, counters: &e.counters, out: out}
		k.s, k.t, k.scale = p.args[0].typ.Scale, p.args[1].typ.Scale, p.typ.Scale
		return k
	}
	k := &intArith{a: a, b: b, op: p.arith, counters: &e.counters, out: out}
	if c := p.args[1]; c.isConst() && !c.val.null {
		k.isConst, k.c = true, c.val.i
	}
	return linear(k)
}

type negFloat struct {
	arg kernel
	out vec
}

func (k *negFloat) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asFloat(f.n)
	for i, v := range a.Float[:len(out)] {
		out[i] = -v
	}
	k.out.Valid = a.Valid
	return &k.out.Column
}

// intArith computes in int64. A pass without branches computes all rows and learns whether any may have left the range;
// only then a second one finds which.
type intArith struct {
	a, b     kernel
	op       byte
	isConst  bool // b is c
	c        int64
	counters *Counters
	out      vec
}

func (k *intArith) eval(f *frame) *tuple.Column {
	a := k.a.eval(f)
	out := k.out.asInt(f.n)
	if k.isConst && k.op != '/' && k.op != '%' {
		k.out.Valid = a.Valid
		if k.withConst(out, a.Int[:len(out)]) {
			k.careful(out, a, k.b.eval(f))
		}
		return &k.out.Column
	}
	b := k.b.eval(f)
	k.out.both(a.Valid, b.Valid, f.n)
	suspect := true
	switch x, y := a.Int[:len(out)], b.Int[:len(out)]; k.op {
	case '+':
		suspect = addInts(out, x, y)
	case '-':
		suspect = subInts(out, x, y)
	case '*':
		suspect = mulInts(out, x, y)
	case '/', '%': // as slow as it is, checking each row costs nothing more
	}
	if suspect {
		k.careful(out, a, b)
	}
	return &k.out.Column
}

// withConst computes a op c for + - * and reports whether a row may have left the range.
func (k *intArith) withConst(out, a []int64) (suspect bool) {
	c := k.c
	switch k.op {
	case '+', '-':
		if k.op == '-' {
			if c == math.MinInt64 {
				return true
			}
			c = -c
		}
		var seen int64
		for i, v := range a {
			r := v + c
			seen |= (v ^ r) & (c ^ r)
			out[i] = r
		}
		return seen < 0
	}
	if c == 0 || c == -1 || c == math.MinInt64 {
		return true
	}
	var seen uint64
	for i, v := range a {
		seen |= uint64(v ^ v>>63)
		out[i] = v * c
	}
	return bits.Len64(seen)+bits.Len64(magnitude(c)) > 63
}

func addInts(out, a, b []int64) bool {
	var seen int64
	for i := range out {
		x, y := a[i], b[i]
		r := x + y
		seen |= (x ^ r) & (y ^ r)
		out[i] = r
	}
	return seen < 0
}

func subInts(out, a, b []int64) bool {
	var seen int64
	for i := range out {
		x, y := a[i], b[i]
		r := x - y
		seen |= (x ^ y) & (x ^ r)
		out[i] = r
	}
	return seen < 0
}

// mulInts takes a row to be in range where both factors have 32 bits.
func mulInts(out, a, b []int64) bool {
	var wide uint64
	for i := range out {
		x, y := a[i], b[i]
		wide |= (uint64(x) + 1<<31) | (uint64(y) + 1<<31)
		out[i] = x * y
	}
	return wide>>32 != 0
}

// careful computes every row that is not null with all checks.
func (k *intArith) careful(out []int64, a, b *tuple.Column) {
	known := k.out.Valid
	var valid []bool
	for i := range out {
		if known != nil && !known[i] {
			continue
		}
		r, fault := intOp(k.op, a.Int[i], b.Int[i])
		out[i] = r
		if fault != faultNone {
			k.counters.count(fault)
			if valid == nil {
				valid = k.out.ownValid(len(out))
				known = valid
			}
			valid[i] = false
		}
	}
}

// fault is why a computation gives null.
type fault uint8

const (
	faultNone fault = iota
	faultZero
	faultRange
)

func (c *Counters) count(f fault) {
	if f == faultZero {
		c.DivByZero++
	} else {
		c.Overflow++
	}
}

// intOp is a op b in int64: / truncates toward zero, % has the sign of a.
func intOp(op byte, a, b int64) (int64, fault) {
	switch op {
	case '+':
		if r := a + b; (a^r)&(b^r) >= 0 {
			return r, faultNone
		}
		return 0, faultRange
	case '-':
		if r := a - b; (a^b)&(a^r) >= 0 {
			return r, faultNone
		}
		return 0, faultRange
	case '*':
		return mulInt(a, b)
	}
	switch {
	case b == 0:
		return 0, faultZero
	case op == '%' && b == -1:
		return 0, faultNone
	case op == '%':
		return a % b, faultNone
	case b == -1 && a == math.MinInt64:
		return 0, faultRange
	}
	return a / b, faultNone
}

func mulInt(a, b int64) (int64, fault) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if hi != 0 {
		return 0, faultRange
	}
	if (a < 0) != (b < 0) {
		if lo > 1<<63 {
			return 0, faultRange
		}
		return -int64(lo), faultNone
	}
	if lo > math.MaxInt64 {
		return 0, faultRange
	}
	return int64(lo), faultNone
}

// floatArith computes in float64. Every result is rounded on its own, as it goes through memory: nothing is fused.
type floatArith struct {
	a, b     kernel
	op       byte
	counters *Counters
	out      vec
}

func (k *floatArith) eval(f *frame) *tuple.Column {
	ca, cb := k.a.eval(f), k.b.eval(f)
	out := k.out.asFloat(f.n)
	a, b := ca.Float[:len(out)], cb.Float[:len(out)]
	k.out.both(ca.Valid, cb.Valid, f.n)
	switch k.op {
	case '+':
		for i := range out {
			out[i] = a[i] + b[i]
		}
	case '-':
		for i := range out {
			out[i] = a[i] - b[i]
		}
	case '*':
		for i := range out {
			out[i] = float64(a[i] * b[i])
		}
	default:
		k.divide(out, a, b)
	}
	return &k.out.Column
}

func (k *floatArith) divide(out, a, b []float64) {
	zeros := 0
	for i := range out {
		zeros += bit(b[i] == 0)
		if k.op == '/' {
			out[i] = a[i] / b[i]
		} else {
			out[i] = math.Mod(a[i], b[i])
		}
	}
	if zeros == 0 {
		return
	}
	valid := k.out.ownValid(len(out))
	for i, v := range b {
		if v == 0 && valid[i] {
			valid[i] = false
			k.counters.DivByZero++
		}
	}
}
