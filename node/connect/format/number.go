package format

import (
	"errors"
	"math"
	"math/big"
	"strconv"
	"unsafe"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// textOf views bytes as a string without a copy, for parsers that keep nothing of it.
func textOf(v []byte) string { return unsafe.String(unsafe.SliceData(v), len(v)) }

// readInt reads a decimal integer. A fraction of zeros is accepted, anything that would have to be rounded is not.
func readInt(v []byte) (int64, connect.Reason) {
	s, neg := v, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	if len(s) == 0 {
		return 0, connect.WrongType
	}
	x := uint64(0)
	for i, c := range s {
		d := c - '0'
		if d > 9 {
			if c != '.' || i == 0 || !allZeros(s[i+1:]) {
				return 0, connect.WrongType
			}
			break
		}
		if i >= 18 && x > (math.MaxInt64-9)/10 && !fitsOneMore(x, d, neg) {
			return 0, beyond(s)
		}
		x = x*10 + uint64(d)
	}
	if neg {
		return -int64(x), connect.OK
	}
	return int64(x), connect.OK
}

// fitsOneMore reports whether ten times x plus d is still an int64 of the sign.
func fitsOneMore(x uint64, d byte, neg bool) bool {
	limit := uint64(math.MaxInt64)
	if neg {
		limit++
	}
	return x <= limit/10 && x*10 <= limit-uint64(d)
}

// beyond tells an integer that is too large from a text that is no number at all.
func beyond(s []byte) connect.Reason {
	for _, c := range s {
		if c < '0' || c > '9' {
			return connect.WrongType
		}
	}
	return connect.OutOfRange
}

func allZeros(s []byte) bool {
	for _, c := range s {
		if c != '0' {
			return false
		}
	}
	return true
}

// powers of ten that a float64 holds exactly.
func pow10(n int) float64 {
	return [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}[n]
}

// readFloat reads a float64; NaN and the infinities are values.
func readFloat(v []byte) (float64, connect.Reason) {
	// With at most 15 digits and no exponent both the digits and the power of ten are exact, so one division rounds
	// correctly. Everything else is left to the general parser.
	s, neg := v, false
	if len(s) > 0 && s[0] == '-' {
		neg, s = true, s[1:]
	}
	m, point := uint64(0), -1
	if len(s) > 0 && len(s) <= 16 {
		for i, c := range s {
			if d := c - '0'; d <= 9 {
				m = m*10 + uint64(d)
			} else if c == '.' && point < 0 {
				point = i
			} else {
				return readFloatText(v)
			}
		}
		if point < 0 && len(s) <= 15 {
			return signed(float64(m), neg), connect.OK
		}
		if point >= 0 && len(s) > 1 {
			return signed(float64(m)/pow10(len(s)-1-point), neg), connect.OK
		}
	}
	return readFloatText(v)
}

func signed(f float64, neg bool) float64 {
	if neg {
		return -f
	}
	return f
}

func readFloatText(v []byte) (float64, connect.Reason) {
	for _, c := range v {
		if c == '_' || c == 'x' || c == 'X' || c == 'p' || c == 'P' {
			return 0, connect.WrongType // Go's own number syntax, nobody else's
		}
	}
	f, err := strconv.ParseFloat(textOf(v), 64)
	switch {
	case err == nil:
		return f, connect.OK
	case errors.Is(err, strconv.ErrRange):
		return 0, connect.OutOfRange
	}
	return 0, connect.WrongType
}

// readDecimal reads a decimal of at most 18 digits at a scale, exactly.
func readDecimal(v []byte, scale uint8) (int64, connect.Reason) {
	s, neg := v, false
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		neg, s = s[0] == '-', s[1:]
	}
	x, digits, frac, point := uint64(0), 0, 0, false
	for _, c := range s {
		d := c - '0'
		switch {
		case d <= 9 && point && frac == int(scale):
			if d != 0 {
				return readDecimalExact(v, scale)
			}
		case d <= 9:
			if x = x*10 + uint64(d); x > 999_999_999_999_999_999 {
				return readDecimalExact(v, scale)
			}
			if point {
				frac++
			}
		case c == '.' && !point:
			point = true
			continue
		default:
			return readDecimalExact(v, scale)
		}
		digits++
	}
	for ; frac < int(scale); frac++ {
		if x *= 10; x > 999_999_999_999_999_999 {
			return 0, connect.OutOfRange
		}
	}
	switch {
	case digits == 0:
		return 0, connect.WrongType
	case neg:
		return -int64(x), connect.OK
	}
	return int64(x), connect.OK
}

// readDecimalExact reads a decimal in any notation, with an exponent too, and tells a number that does not fit from a
// text that is no number.
func readDecimalExact(v []byte, scale uint8) (int64, connect.Reason) {
	x, ok := exactNumber(v)
	if !ok {
		return 0, connect.WrongType
	}
	x.Mul(x, new(big.Rat).SetInt64(int64(math.Pow10(int(scale)))))
	if n := x.Num(); x.IsInt() && n.IsInt64() && n.CmpAbs(big.NewInt(999_999_999_999_999_999)) <= 0 {
		return n.Int64(), connect.OK
	}
	return 0, connect.OutOfRange
}

// exactNumber reads a number with fraction and exponent exactly. Its size is bounded first: an exponent of a billion
// would otherwise be a billion digits.
func exactNumber(v []byte) (*big.Rat, bool) {
	if len(v) == 0 || len(v) > 64 {
		return nil, false
	}
	for i, c := range v {
		if c >= '0' && c <= '9' || c == '.' || c == '-' || c == '+' {
			continue
		}
		if c != 'e' && c != 'E' || i == 0 {
			return nil, false
		}
		if exp, err := strconv.Atoi(string(v[i+1:])); err != nil || exp > 40 || exp < -40 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(string(v))
}

// readBool reads true and false, also as t, f, 1 and 0, in either case.
func readBool(v []byte) (value, ok bool) {
	switch len(v) {
	case 1:
		switch v[0] {
		case 't', 'T', '1':
			return true, true
		case 'f', 'F', '0':
			return false, true
		}
	case 4:
		return true, foldEqual(v, "true")
	case 5:
		return false, foldEqual(v, "false")
	}
	return false, false
}

func foldEqual(v []byte, lower string) bool {
	for i, c := range v {
		if c|0x20 != lower[i] {
			return false
		}
	}
	return true
}

// looksNumber reports whether a text begins like a number.
func looksNumber(v []byte) bool {
	if len(v) > 0 && (v[0] == '-' || v[0] == '+') {
		v = v[1:]
	}
	if len(v) == 0 {
		return false
	}
	for _, c := range v {
		if (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
			return false
		}
	}
	return v[0] >= '0' && v[0] <= '9' || v[0] == '.'
}

// readDuration reads text such as 1h30m or, if there is a unit, a number.
func readDuration(v []byte, unit connect.Unit) (int64, connect.Reason) {
	if looksNumber(v) {
		if unit.Mul == 0 {
			return 0, connect.WrongType
		}
		return readScaled(v, unit)
	}
	if x, ok := readOnePart(v); ok {
		return x, connect.OK
	}
	x, err := tuple.ParseDuration(string(v))
	if err != nil {
		return 0, connect.WrongType
	}
	return x, connect.OK
}

// readOnePart reads a duration of one number and one of the units s, ms and us, as programs write most; false: the
// general parser is to read it.
func readOnePart(v []byte) (int64, bool) {
	n, point := 0, -1
	for ; n < len(v) && (v[n]-'0' <= 9 || v[n] == '.' && point < 0); n++ {
		if v[n] == '.' {
			point = n
		}
	}
	fraction := 0
	if point >= 0 {
		fraction = n - point - 1
	}
	name, most := string(v[n:]), 0
	switch name {
	case "s":
		most = 6
	case "ms":
		most = 3
	case "us":
	default:
		return 0, false
	}
	if n == 0 || n > 15 || fraction > most {
		return 0, false
	}
	unit, _ := connect.UnitMicros(name)
	x, reason := readScaled(v[:n], unit)
	return x, reason == connect.OK
}
