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
	var r int64
	var f fault
	switch k.op {
	case '/':
		return k.quotient(a, b)
	case '%':
		r, f = k.remainder(a, b)
	case '*':
		r, f = mulInt(a, b)
	default:
		var fa, fb fault
		a, fa = mulInt(a, pow10[k.scale-k.s])
		b, fb = mulInt(b, pow10[k.scale-k.t])
		if fa != faultNone || fb != faultNone {
			return 0, faultRange // the other operand has 18 digits at this scale, too few to bring the sum back
		}
		r, f = intOp(k.op, a, b)
	}
	if f == faultNone && magnitude(r) > maxDecimal {
		return 0, faultRange
	}
	return r, f
}

// remainder takes both to the common scale, where one of them may need two words.
func (k *decimalArith) remainder(a, b int64) (int64, fault) {
	if b == 0 {
		return 0, faultZero
	}
	ah, al := mulPow10(magnitude(a), int(k.scale-k.s))
	bh, bl := mulPow10(magnitude(b), int(k.scale-k.t))
	if bh != 0 { // larger than the dividend, which then is not scaled
		return a, faultNone
	}
	r := bits.Rem64(ah, al, bl)
	if r > maxDecimal {
		return 0, faultRange
	}
	if a < 0 {
		return -int64(r), faultNone
	}
	return int64(r), faultNone
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
