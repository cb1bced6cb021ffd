package expr

import (
	"fmt"
	"math"
	"strconv"

	"fednode/query/tuple"
)

var roundingFunctions = []function{
	{name: "round", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, row: keepInt,
		doc: "x itself."},
	{name: "round", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Round(c.float(0, i))) },
		doc: "The nearest whole number, halves away from zero."},
	{name: "round", group: "number", params: digitsOfKind(tuple.Float64), result: tuple.Float64, row: roundFloat, check: digitsBetween(0, 18),
		doc: "x rounded to so many fraction digits (0 to 18) by its exact value, halves away from zero."},
	{name: "round", group: "number", params: oneOf(tuple.Decimal), result: tuple.Decimal, typed: whole, counts: true, row: roundDecimal,
		doc: "The nearest whole number, halves away from zero, as a decimal of scale 0."},
	{name: "round", group: "number", params: digitsOfKind(tuple.Decimal), result: tuple.Decimal, typed: toDigits, counts: true, row: roundDecimal, check: digitsBetween(0, tuple.MaxScale),
		doc: "x rounded to so many fraction digits, halves away from zero; they are the result's scale."},
	{name: "floor", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, row: keepInt,
		doc: "x itself."},
	{name: "floor", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Floor(c.float(0, i))) },
		doc: "The largest whole number not above x."},
	{name: "floor", group: "number", params: oneOf(tuple.Decimal), result: tuple.Decimal, typed: whole,
		row: func(c *call, i int) bool { return c.setInt(i, floorDivide(c.int(0, i), pow10[c.scale(0)])) },
		doc: "The largest whole number not above x."},
	{name: "ceil", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, row: keepInt,
		doc: "x itself."},
	{name: "ceil", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Ceil(c.float(0, i))) },
		doc: "The smallest whole number not below x."},
	{name: "ceil", group: "number", params: oneOf(tuple.Decimal), result: tuple.Decimal, typed: whole,
		row: func(c *call, i int) bool { return c.setInt(i, -floorDivide(-c.int(0, i), pow10[c.scale(0)])) },
		doc: "The smallest whole number not below x."},
	{name: "trunc", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, row: keepInt,
		doc: "x itself."},
	{name: "trunc", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Trunc(c.float(0, i))) },
		doc: "x without its fraction."},
	{name: "trunc", group: "number", params: oneOf(tuple.Decimal), result: tuple.Decimal, typed: whole,
		row: func(c *call, i int) bool { return c.setInt(i, c.int(0, i)/pow10[c.scale(0)]) },
		doc: "x without its fraction."},
}

func whole([]*plan) tuple.Type { return tuple.DecimalType(0) }

func digitsOfKind(k tuple.Kind) []param {
	return []param{{name: "x", kind: k}, {name: "digits", kind: tuple.Int64, constant: true}}
}

// toDigits gives the result of round the scale that was asked for; what digitsBetween refuses gets none.
func toDigits(args []*plan) tuple.Type {
	if d := args[1]; d.isConst() && !d.val.null && d.val.i >= 0 && d.val.i <= tuple.MaxScale {
		return tuple.DecimalType(uint8(d.val.i))
	}
	return args[0].typ
}

func digitsBetween(lo, hi int64) func(args []*plan) (int, error) {
	return func(args []*plan) (int, error) {
		if d := args[1].val; d.null || d.i < lo || d.i > hi {
			return 1, fmt.Errorf("the number of digits must lie between %d and %d", lo, hi)
		}
		return 0, nil
	}
}

func keepInt(c *call, i int) bool { return c.setInt(i, c.int(0, i)) }

func floorDivide(v, d int64) int64 {
	q := v / d
	if v%d < 0 {
		q--
	}
	return q
}

// roundFloat goes through decimal text, which rounds the exact value; scaling by a power of ten would round twice. Text
// takes ties to even, so a tie is first moved a little away from zero.
func roundFloat(c *call, i int) bool {
	f, digits := c.float(0, i), int(c.int(1, i))
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1<<53 {
		return c.setFloat(i, f)
	}
	// f*10^digits ends in exactly one half if f*2^(digits+1) is odd, since powers of five are odd.
	if m := math.Ldexp(f, digits+1); m == math.Trunc(m) && math.Mod(m, 2) != 0 {
		f = math.Nextafter(f, math.Copysign(math.Inf(1), f))
	}
	c.tmp = strconv.AppendFloat(c.tmp[:0], f, 'f', digits, 64)
	r, err := strconv.ParseFloat(string(c.tmp), 64)
	return err == nil && c.setFloat(i, r)
}

func roundDecimal(c *call, i int) bool {
	v, from, to := c.int(0, i), c.scale(0), c.out.Type.Scale
	if to >= from {
		r, f := rescale(v, from, to)
		return c.setChecked(i, r, f)
	}
	d := uint64(pow10[from-to])
	q := magnitude(v) / d
	if r := magnitude(v) % d; r >= d-r {
		q++
	}
	if v < 0 {
		return c.setInt(i, -int64(q))
	}
	return c.setInt(i, int64(q))
}
