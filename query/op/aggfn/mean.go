package aggfn

import (
	"math/big"

	"fednode/query/tuple"
)

// maxDecimal is the largest unscaled value of a decimal, 18 nines.
const maxDecimal = 999_999_999_999_999_999

func resolveAvg(t tuple.Type, _ []float64) (Func, error) {
	switch t.Kind {
	case tuple.Float64:
		return Func{Type: t, New: func() Acc { return &sumFloat{avg: true} }}, nil
	case tuple.Int64:
		out := tuple.Of(tuple.Float64)
		return Func{Type: out, OrderInsensitive: true, New: func() Acc { return &sumInt{typ: out, arg: t, avg: true} }}, nil
	case tuple.Duration:
		return Func{Type: t, OrderInsensitive: true, New: func() Acc { return &sumInt{typ: t, arg: t, avg: true} }}, nil
	case tuple.Decimal:
		out := tuple.DecimalType(min(t.Scale+6, tuple.MaxScale))
		return Func{Type: out, OrderInsensitive: true, New: func() Acc { return &sumInt{typ: out, arg: t, avg: true} }}, nil
	}
	return Func{}, wrongType("avg", t, "int64, float64, decimal or duration")
}

func (w wide) big() *big.Int {
	b := new(big.Int).SetInt64(w.hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(w.lo))
}

// exactFloat is the largest integer up to which every integer is a float64.
const exactFloat = 1 << 53

// meanFloat returns the float64 nearest to sum/n.
func meanFloat(sum wide, n int64) float64 {
	if v, ok := sum.int64(); ok && v >= -exactFloat && v <= exactFloat && n <= exactFloat {
		return float64(v) / float64(n)
	}
	f, _ := new(big.Rat).SetFrac(sum.big(), big.NewInt(n)).Float64()
	return f
}

// meanScaled returns sum·10^shift/n, half to even; ok is false beyond the range of the type.
func meanScaled(sum wide, n int64, shift uint8, decimal bool) (v int64, ok bool) {
	num := sum.big()
	num.Mul(num, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(shift)), nil))
	den := big.NewInt(n)
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	twice := new(big.Int).Abs(r)
	twice.Lsh(twice, 1)
	if c := twice.Cmp(den); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(num.Sign())))
	}
	if !q.IsInt64() || decimal && new(big.Int).Abs(q).Cmp(big.NewInt(maxDecimal)) > 0 {
		return 0, false
	}
	return q.Int64(), true
}
