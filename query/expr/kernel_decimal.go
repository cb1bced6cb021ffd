package expr

import (
	"math/bits"

	"fednode/query/tuple"
)

// maxDecimal is the largest unscaled value: 18 digits.
const maxDecimal = 999_999_999_999_999_999

// decimalArith computes decimals, and int64 as decimals of scale 0, exactly; only a quotient is rounded, half to even.
type decimalArith struct {
	a, b        kernel
	op          byte
	s, t, scale uint8 // of a, b and the result
	counters    *Counters
	out         vec
}

func (k *decimalArith) eval(f *frame) *tuple.Column {
	a, b := k.a.eval(f), k.b.eval(f)
	k.out.both(a.Valid, b.Valid, f.n)
	out, known := k.out.asInt(f.n), k.out.Valid
	var valid []bool
	for i := range out {
		if known != nil && !known[i] {
			continue
		}
		r, fault := k.compute(a.Int[i], b.Int[i])
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
	return &k.out.Column
}

func (k *decimalArith) compute(a, b int64) (int64, fault) {
	if k.op == '/' {
		return k.quotient(a, b)
	}
	if k.op != '*' {
		var fa, fb fault
		a, fa = mulInt(a, pow10[k.scale-k.s])
		b, fb = mulInt(b, pow10[k.scale-k.t])
		if fa != faultNone || fb != faultNone {
			return k.remainderBeyond(a, b, fa, fb)
		}
	}
	r, fault := intOp(k.op, a, b)
	if fault == faultNone && magnitude(r) > maxDecimal {
		return 0, faultRange
	}
	return r, fault
}

// remainderBeyond is for operands that their common scale takes out of int64: a sum is then out of range as well, a
// remainder only where the dividend is.
func (k *decimalArith) remainderBeyond(a, b int64, fa, fb fault) (int64, fault) {
	if k.op == '%' && fa == faultNone && fb != faultNone && magnitude(a) <= maxDecimal {
		return a, faultNone // the divisor is larger than any dividend in range
	}
	return 0, faultRange
}

// quotient is a/10^s / (b/10^t) at the result's scale, half to even.
func (k *decimalArith) quotient(a, b int64) (int64, fault) {
	if b == 0 {
		return 0, faultZero
	}
	// a * 10^(scale-s+t) / b; the exponent lies in [0, 36], so it is applied in two steps of at most 18.
	e := int(k.scale) - int(k.s) + int(k.t)
	hi, lo := bits.Mul64(magnitude(a), uint64(pow10[min(e, tuple.MaxScale)]))
	if e > tuple.MaxScale {
		top, carry := bits.Mul64(lo, uint64(pow10[e-tuple.MaxScale]))
		over, low := bits.Mul64(hi, uint64(pow10[e-tuple.MaxScale]))
		var c uint64
		lo = carry
		hi, c = bits.Add64(low, top, 0)
		if over+c != 0 {
			return 0, faultRange
		}
	}
	d := magnitude(b)
	if hi >= d {
		return 0, faultRange
	}
	q, r := bits.Div64(hi, lo, d)
	if half := d - r; r > half || r == half && q&1 == 1 {
		q++
	}
	if q > maxDecimal {
		return 0, faultRange
	}
	if (a < 0) != (b < 0) {
		return -int64(q), faultNone
	}
	return int64(q), faultNone
}
