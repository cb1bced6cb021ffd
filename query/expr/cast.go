package expr

import (
	"fmt"
	"math"
	"strconv"

	"fednode/query/tuple"
)

// canCast reports which casts an expression may ask for. What a text does not spell gives null; a number that does not
// fit gives null and is counted.
func canCast(from, to tuple.Type) bool {
	f, t := from.Kind, to.Kind
	switch {
	case t == tuple.List || f == tuple.List:
		return false
	case t == tuple.String || f == tuple.String:
		return true
	case isNumber(f) && isNumber(t):
		return true
	}
	return f == tuple.Bool && t == tuple.Int64 || f == tuple.IP && t == tuple.CIDR
}

// castCounts reports whether the cast p may move the counters.
func castCounts(p *plan) bool {
	from, to := p.args[0].typ.Kind, p.typ.Kind
	return (to == tuple.Int64 || to == tuple.Decimal || to == tuple.Duration) && from != tuple.String && from != tuple.Bool
}

func castAdvice(from, to tuple.Type) string {
	f, t := from.Kind, to.Kind
	switch {
	case canCast(from, to):
		return fmt.Sprintf("write CAST(… AS %v)", to)
	case f == tuple.Timestamp && isNumber(t):
		return "write unix_seconds(…), unix_millis(…) or unix_micros(…)"
	case f == tuple.Int64 && t == tuple.Timestamp:
		return "write from_unix(…, 's')"
	case f == tuple.Duration && isNumber(t):
		return "divide by duration '1s'"
	case isNumber(f) && t == tuple.Duration:
		return "multiply duration '1s'"
	}
	return ""
}

func badText(text string, t tuple.Type) error {
	if t.Kind == tuple.Duration {
		_, err := tuple.ParseDuration(text)
		return err
	}
	if t.Kind == tuple.Decimal {
		_, err := tuple.ParseDecimal(text, t.Scale)
		return err
	}
	return fmt.Errorf("%q is not a value of type %v", shorten(text), t)
}

func (e *Eval) buildCast(p *plan, out vec) kernel {
	from, to := p.args[0].typ.Kind, p.typ.Kind
	if (from == tuple.Int64 || from == tuple.Duration) && to == tuple.Float64 {
		return &intToFloat{arg: e.build(p.args[0]), out: out}
	}
	k := e.callOf(p, castRow(p.args[0].typ, p.typ), false, out)
	k.c.state = p.typ
	return k
}

type intToFloat struct {
	arg kernel
	out vec
}

func (k *intToFloat) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asFloat(f.n)
	for i, v := range a.Int[:len(out)] {
		out[i] = float64(v)
	}
	k.out.Valid = a.Valid
	return &k.out.Column
}

func castRow(from, to tuple.Type) func(c *call, i int) bool {
	switch {
	case to.Kind == tuple.String:
		return castToText
	case from.Kind == tuple.String:
		return castFromText
	case from.Kind == tuple.Bool:
		return func(c *call, i int) bool { return c.setInt(i, int64(bit(c.boolean(0, i)))) }
	case from.Kind == tuple.IP:
		return castIPToCIDR
	case from.Kind == tuple.Float64 && to.Kind == tuple.Decimal:
		return castFloatToDecimal
	case from.Kind == tuple.Float64 && to.Kind == tuple.Duration:
		return castFloatToDuration
	case from.Kind == tuple.Float64:
		return castFloatToInt
	case to.Kind == tuple.Float64:
		return castDecimalToFloat
	}
	return castScale
}

func castToText(c *call, i int) bool { return c.setText(i, c.args[0].AppendText(c.tmp[:0], i)) }

func castFromText(c *call, i int) bool {
	t := c.state.(tuple.Type)
	v, ok := readValue(string(c.bin(0, i)), t)
	if !ok {
		return false
	}
	switch k := t.Kind; {
	case k == tuple.Bool:
		return c.setBool(i, v.b)
	case k.IsInt():
		return c.setInt(i, v.i)
	case k == tuple.Float64:
		return c.setFloat(i, v.f)
	}
	return c.setBin(i, v.s)
}

func castIPToCIDR(c *call, i int) bool {
	return c.setText(i, append(append(c.tmp[:0], c.bin(0, i)...), 128))
}

func castFloatToInt(c *call, i int) bool {
	f := c.float(0, i)
	if !floatRange(f) {
		return c.overflow()
	}
	return c.setInt(i, int64(f))
}

func castFloatToDuration(c *call, i int) bool {
	f := math.RoundToEven(c.float(0, i))
	if !floatRange(f) {
		return c.overflow()
	}
	return c.setInt(i, int64(f))
}

// castFloatToDecimal rounds the float's exact value to the nearest decimal, half to even.
func castFloatToDecimal(c *call, i int) bool {
	f, scale := c.float(0, i), c.out.Type.Scale
	if !(math.Abs(f) <= 1e18) {
		return c.overflow()
	}
	c.tmp = strconv.AppendFloat(c.tmp[:0], f, 'f', int(scale), 64)
	v, ok := digitsOf(c.tmp)
	if !ok {
		return c.overflow()
	}
	return c.setInt(i, v)
}

// digitsOf reads a decimal text without its point.
func digitsOf(text []byte) (int64, bool) {
	var v int64
	for _, b := range text {
		if !isDigit(b) {
			continue
		}
		if v = v*10 + int64(b-'0'); v > maxDecimal {
			return 0, false
		}
	}
	if text[0] == '-' {
		v = -v
	}
	return v, true
}

// castDecimalToFloat gives the nearest float; a quotient of exact floats is, and the rest goes through text.
func castDecimalToFloat(c *call, i int) bool {
	v, scale := c.int(0, i), c.scale(0)
	if magnitude(v) <= 1<<53 {
		return c.setFloat(i, float64(v)/float64(pow10[scale]))
	}
	c.tmp = tuple.AppendDecimal(c.tmp[:0], v, scale)
	f, err := strconv.ParseFloat(string(c.tmp), 64)
	return err == nil && c.setFloat(i, f)
}

// castScale turns decimals and int64 into one another: to a smaller scale half to even, to int64 cut toward zero.
func castScale(c *call, i int) bool {
	v, from, to := c.int(0, i), c.scale(0), c.out.Type.Scale
	if c.out.Type.Kind == tuple.Int64 {
		return c.setInt(i, v/pow10[from])
	}
	r, f := rescale(v, from, to)
	return c.setChecked(i, r, f)
}

// rescale changes the scale of a decimal, half to even.
func rescale(v int64, from, to uint8) (int64, fault) {
	var f fault
	if to >= from {
		v, f = mulInt(v, pow10[to-from])
	} else {
		v = divideHalfEven(v, pow10[from-to])
	}
	if f == faultNone && magnitude(v) > maxDecimal {
		f = faultRange
	}
	return v, f
}

// divideHalfEven is v / d rounded to the nearest, ties to even; d is positive.
func divideHalfEven(v, d int64) int64 {
	q, r := magnitude(v)/uint64(d), magnitude(v)%uint64(d)
	if half := uint64(d) - r; r > half || r == half && q&1 == 1 {
		q++
	}
	if v < 0 {
		return -int64(q)
	}
	return int64(q)
}
