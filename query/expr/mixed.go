package expr

import (
	"math"
	"math/big"
	"math/bits"

	"fednode/query/tuple"
)

// compareMixed compares numbers of different types by their exact values.
func compareMixed(out []bool, a, b *tuple.Column, op cmpOp) {
	for i := range out {
		if a.IsNull(i) || b.IsNull(i) {
			continue
		}
		out[i] = op.holds(compareExact(a, b, i))
	}
}

func compareExact(a, b *tuple.Column, i int) int {
	af, bf := a.Type.Kind == tuple.Float64, b.Type.Kind == tuple.Float64
	switch {
	case af && bf:
		return tuple.CompareFloat(a.Float[i], b.Float[i])
	case af:
		return -compareScaledFloat(b.Int[i], b.Type.Scale, a.Float[i])
	case bf:
		return compareScaledFloat(a.Int[i], a.Type.Scale, b.Float[i])
	}
	return compareScaled(a.Int[i], a.Type.Scale, b.Int[i], b.Type.Scale)
}

// compareScaled compares a/10^s with b/10^t.
func compareScaled(a int64, s uint8, b int64, t uint8) int {
	if s == t || (a < 0) != (b < 0) {
		return compareInt(a, b)
	}
	ah, al := mulPow10(magnitude(a), int(t)-int(s))
	bh, bl := mulPow10(magnitude(b), int(s)-int(t))
	r := 0
	switch {
	case ah != bh:
		r = 1 - 2*bit(ah < bh)
	case al != bl:
		r = 1 - 2*bit(al < bl)
	}
	if a < 0 {
		return -r
	}
	return r
}

func compareInt(a, b int64) int { return bit(a > b) - bit(a < b) }

func magnitude(v int64) uint64 {
	if v < 0 {
		return -uint64(v)
	}
	return uint64(v)
}

// mulPow10 returns v * 10^e in two words, v where e is not positive.
func mulPow10(v uint64, e int) (hi, lo uint64) {
	if e <= 0 {
		return 0, v
	}
	return bits.Mul64(v, uint64(pow10[e]))
}

var pow10 = [tuple.MaxScale + 1]int64{
	1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
	10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000,
}

// compareScaledFloat compares v/10^s with f exactly. Rounding both sides decides nearly always; the rest takes big
// numbers.
func compareScaledFloat(v int64, s uint8, f float64) int {
	switch {
	case math.IsNaN(f):
		return -1
	case math.IsInf(f, 0):
		return 1 - 2*bit(f > 0)
	}
	if s == 0 {
		return compareIntFloat(v, f)
	}
	near := float64(v) / float64(pow10[s])
	if margin := float64(math.Abs(near) * 1e-15); near-f > margin || f-near > margin {
		return 1 - 2*bit(near < f)
	}
	return ratOf(tuple.DecimalType(s), value{i: v}).Cmp(new(big.Rat).SetFloat64(f))
}

// compareIntFloat compares exactly by splitting f into its whole and its rest.
func compareIntFloat(v int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if r := compareInt(v, int64(whole)); r != 0 {
		return r
	}
	return bit(whole > f) - bit(whole < f)
}
