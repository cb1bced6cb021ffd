package expr

import (
	"math"

	"fednode/query/expr/fmath"
	"fednode/query/tuple"
)

// same is the type rule of functions whose result is like their first argument.
func same(args []*plan) tuple.Type { return args[0].typ }

func oneOf(k tuple.Kind) []param { return []param{{name: "x", kind: k}} }

var numberFunctions = []function{
	{name: "abs", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, counts: true, row: absInt,
		doc: "The magnitude of x."},
	{name: "abs", group: "number", params: oneOf(tuple.Decimal), result: tuple.Decimal, typed: same, counts: true, row: absInt,
		doc: "The magnitude of x, of its scale."},
	{name: "abs", group: "number", params: oneOf(tuple.Duration), result: tuple.Duration, counts: true, row: absInt,
		doc: "The magnitude of x."},
	{name: "abs", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Abs(c.float(0, i))) },
		doc: "The magnitude of x."},
	{name: "sign", group: "number", params: oneOf(tuple.Int64), result: tuple.Int64, row: signInt,
		doc: "-1, 0 or 1."},
	{name: "sign", group: "number", params: oneOf(tuple.Decimal), result: tuple.Int64, row: signInt,
		doc: "-1, 0 or 1."},
	{name: "sign", group: "number", params: oneOf(tuple.Duration), result: tuple.Int64, row: signInt,
		doc: "-1, 0 or 1."},
	{name: "sign", group: "number", params: oneOf(tuple.Float64), result: tuple.Int64, row: signFloat,
		doc: "-1, 0 or 1; null for NaN."},
	{name: "mod", group: "number", params: []param{{name: "a", kind: tuple.Int64}, {name: "b", kind: tuple.Int64}}, result: tuple.Int64, counts: true, row: modInt,
		doc: "The remainder a % b, with the sign of a."},
	{name: "sqrt", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Sqrt(c.float(0, i))) },
		doc: "The square root; NaN for negative numbers."},
	{name: "exp", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, fmath.Exp(c.float(0, i))) },
		doc: "e to the power of x."},
	{name: "ln", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, fmath.Log(c.float(0, i))) },
		doc: "The natural logarithm; -Infinity for 0, NaN for negative numbers."},
	{name: "log10", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, fmath.Log10(c.float(0, i))) },
		doc: "The logarithm to base 10."},
	{name: "log2", group: "number", params: oneOf(tuple.Float64), result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, fmath.Log2(c.float(0, i))) },
		doc: "The logarithm to base 2."},
	{name: "power", group: "number", params: []param{{name: "x", kind: tuple.Float64}, {name: "y", kind: tuple.Float64}}, result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, fmath.Pow(c.float(0, i), c.float(1, i))) },
		doc: "x to the power of y."},
	{name: "pi", group: "number", result: tuple.Float64,
		row: func(c *call, i int) bool { return c.setFloat(i, math.Pi) },
		doc: "The number pi."},
	{name: "is_nan", group: "number", params: oneOf(tuple.Float64), result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, math.IsNaN(c.float(0, i))) },
		doc: "Whether x is NaN."},
	{name: "is_finite", group: "number", params: oneOf(tuple.Float64), result: tuple.Bool, row: isFinite,
		doc: "Whether x is neither NaN nor infinite."},
}

func absInt(c *call, i int) bool {
	v := c.int(0, i)
	if v == math.MinInt64 {
		return c.overflow()
	}
	return c.setInt(i, max(v, -v))
}

func signInt(c *call, i int) bool { return c.setInt(i, int64(compareInt(c.int(0, i), 0))) }

func signFloat(c *call, i int) bool {
	v := c.float(0, i)
	return !math.IsNaN(v) && c.setInt(i, int64(bit(v > 0)-bit(v < 0)))
}

func modInt(c *call, i int) bool {
	r, f := intOp('%', c.int(0, i), c.int(1, i))
	return c.setChecked(i, r, f)
}

func isFinite(c *call, i int) bool {
	v := c.float(0, i)
	return c.setBool(i, !math.IsNaN(v) && !math.IsInf(v, 0))
}

// Greatest and least take values of one type and skip nulls, so that a missing reading does not hide the others.
var (
	greatestFunction = &function{name: "greatest", params: []param{{name: "x"}}, variadic: true, lenient: true, row: func(c *call, i int) bool { return extreme(c, i, 1) }}
	leastFunction    = &function{name: "least", params: []param{{name: "x"}}, variadic: true, lenient: true, row: func(c *call, i int) bool { return extreme(c, i, -1) }}
)

func extreme(c *call, i, sign int) bool {
	best := -1
	for j, a := range c.args {
		if !a.IsNull(i) && (best < 0 || a.Compare(i, c.args[best], i)*sign > 0) {
			best = j
		}
	}
	if best < 0 {
		return false
	}
	switch k := c.out.Type.Kind; {
	case k == tuple.Bool:
		return c.setBool(i, c.boolean(best, i))
	case k.IsInt():
		return c.setInt(i, c.int(best, i))
	case k == tuple.Float64:
		return c.setFloat(i, c.float(best, i))
	}
	return c.setBin(i, c.bin(best, i))
}
