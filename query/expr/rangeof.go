package expr

import (
	"math"
	"math/big"

	"fednode/query/tuple"
)

const (
	minInt = math.MinInt64
	maxInt = math.MaxInt64
)

// rangeOf returns the values x of a type held as int64 for which x op c holds, c a constant number, time or duration:
// those in [lo, hi], or with not those outside. Every comparison with a constant so becomes one test without a branch.
func rangeOf(op cmpOp, t tuple.Type, c *plan) (lo, hi int64, not bool) {
	switch op {
	case cmpNe, cmpGe, cmpGt:
		lo, hi, not = rangeOf(op.negated(), t, c)
		return lo, hi, !not
	}
	at, exact, side := place(t, c)
	switch {
	case side < 0: // c is below every x
		return minInt, maxInt, true
	case side > 0:
		return minInt, maxInt, op == cmpEq
	case op == cmpEq && !exact:
		return minInt, maxInt, true
	case op == cmpEq:
		return at, at, false
	case op == cmpLt && exact && at == minInt:
		return minInt, maxInt, true
	case op == cmpLt && exact:
		return minInt, at - 1, false
	}
	return minInt, at, false // x <= c, and x < c with c between two values
}

// complement returns the one range of what lies outside [lo, hi], which touches an end of the line.
func complement(lo, hi int64) (int64, int64, bool) {
	switch {
	case lo == minInt && hi == maxInt:
		return minInt, maxInt, true
	case lo == minInt:
		return hi + 1, maxInt, false
	}
	return minInt, lo - 1, false
}

// place puts the constant c on the line of the values of t: the largest value not above it, whether c is that value,
// and -1 or +1 in side if c lies beyond all values.
func place(t tuple.Type, c *plan) (at int64, exact bool, side int) {
	if c.typ == t {
		return c.val.i, true, 0
	}
	if f := c.val.f; c.typ.Kind == tuple.Float64 {
		switch {
		case math.IsNaN(f) || math.IsInf(f, 1):
			return 0, false, 1
		case math.IsInf(f, -1):
			return 0, false, -1
		}
	}
	r := ratOf(c.typ, c.val)
	r.Mul(r, new(big.Rat).SetInt(pow10Big(t.Scale)))
	floor := new(big.Int).Div(r.Num(), r.Denom()) // Euclidean: floors, as the denominator is positive
	if !floor.IsInt64() {
		return 0, false, floor.Sign()
	}
	return floor.Int64(), r.IsInt(), 0
}

// ratOf returns a finite constant number exactly.
func ratOf(t tuple.Type, v value) *big.Rat {
	if t.Kind == tuple.Float64 {
		return new(big.Rat).SetFloat64(v.f)
	}
	return new(big.Rat).SetFrac(big.NewInt(v.i), pow10Big(t.Scale))
}

func pow10Big(scale uint8) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
}

// constSet is the constants of an IN list by representation. A list of which an item is null yields null, not false,
// where nothing is found.
type constSet struct {
	ints    []int64
	floats  map[uint64]struct{} // by tuple.FloatBits
	bins    map[string]struct{}
	hasNull bool
}

// newConstSet returns the set of items that values of type t are looked up in, nil if an item is not constant or the
// type needs a comparison one by one. Items that no value of t equals are left out.
func newConstSet(t tuple.Type, items []*plan) *constSet {
	s := &constSet{floats: map[uint64]struct{}{}, bins: map[string]struct{}{}}
	for _, it := range items {
		if !it.isConst() || t.Kind == tuple.Bool {
			return nil
		}
		if it.val.null {
			s.hasNull = true
			continue
		}
		switch {
		case t.Kind.IsBinary():
			s.bins[string(it.val.s)] = struct{}{}
		case t.Kind == tuple.Float64:
			if f, exact := exactFloat(it); exact {
				s.floats[tuple.FloatBits(f)] = struct{}{}
			}
		default:
			if at, exact, side := place(t, it); exact && side == 0 {
				s.ints = append(s.ints, at)
			}
		}
	}
	s.ints = sortedSet(s.ints)
	return s
}

func exactFloat(p *plan) (float64, bool) {
	if p.typ.Kind == tuple.Float64 {
		return p.val.f, true
	}
	return ratOf(p.typ, p.val).Float64()
}
