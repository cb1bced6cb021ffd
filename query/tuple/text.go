package tuple

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// IPBytes returns the 16 bytes of an address, IPv4 mapped; a zone is dropped.
func IPBytes(a netip.Addr) [16]byte { return a.As16() }

// IPAddr returns the address of 16 bytes, IPv4-mapped ones folded to IPv4.
func IPAddr(b []byte) netip.Addr {
	a, _ := netip.AddrFromSlice(b)
	return a.Unmap()
}

// CIDRBytes returns the 17 bytes of a prefix: the masked address and the length in 128-bit terms.
func CIDRBytes(p netip.Prefix) [17]byte {
	p = p.Masked()
	var b [17]byte
	a := p.Addr().As16()
	copy(b[:], a[:])
	n := p.Bits()
	if p.Addr().Is4() {
		n += 96
	}
	b[16] = byte(n)
	return b
}

// CIDRPrefix returns the prefix of 17 bytes.
func CIDRPrefix(b []byte) netip.Prefix {
	a, _ := netip.AddrFromSlice(b[:16])
	n := int(b[16])
	if a.Is4In6() && n >= 96 {
		return netip.PrefixFrom(a.Unmap(), n-96)
	}
	return netip.PrefixFrom(a, n)
}

// AppendDecimal appends an unscaled value with scale fraction digits.
func AppendDecimal(dst []byte, unscaled int64, scale uint8) []byte {
	if scale == 0 {
		return strconv.AppendInt(dst, unscaled, 10)
	}
	mag := uint64(unscaled)
	if unscaled < 0 {
		dst = append(dst, '-')
		mag = -mag
	}
	digits := strconv.FormatUint(mag, 10)
	if pad := int(scale) + 1 - len(digits); pad > 0 {
		digits = strings.Repeat("0", pad) + digits
	}
	cut := len(digits) - int(scale)
	dst = append(dst, digits[:cut]...)
	dst = append(dst, '.')
	return append(dst, digits[cut:]...)
}

// ParseDecimal reads a decimal number of at most 18 digits at a scale; digits below the scale must be zero.
func ParseDecimal(s string, scale uint8) (int64, error) {
	body, neg := s, false
	if len(body) > 0 && (body[0] == '-' || body[0] == '+') {
		neg, body = body[0] == '-', body[1:]
	}
	var v uint64
	digits, frac, seenDot := 0, 0, false
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == '.' && !seenDot:
			seenDot = true
			continue
		case c < '0' || c > '9':
			return 0, fmt.Errorf("%q is not a decimal number", s)
		case seenDot && frac == int(scale):
			if c != '0' {
				return 0, fmt.Errorf("%q has more than %d fraction digits", s, scale)
			}
			digits++
			continue
		}
		if v = v*10 + uint64(c-'0'); v > 999_999_999_999_999_999 {
			return 0, fmt.Errorf("%q has more than 18 digits at scale %d", s, scale)
		}
		digits++
		if seenDot {
			frac++
		}
	}
	if digits == 0 {
		return 0, fmt.Errorf("%q is not a decimal number", s)
	}
	for ; frac < int(scale); frac++ {
		if v *= 10; v > 999_999_999_999_999_999 {
			return 0, fmt.Errorf("%q has more than 18 digits at scale %d", s, scale)
		}
	}
	if neg {
		return -int64(v), nil
	}
	return int64(v), nil
}

// AppendDuration appends microseconds as query files write durations: 1h30m, 0.5s, 7d.
func AppendDuration(dst []byte, us int64) []byte {
	if us != 0 && us%Day == 0 {
		return append(strconv.AppendInt(dst, us/Day, 10), 'd')
	}
	if us > math.MaxInt64/1000 || us < math.MinInt64/1000 {
		// Beyond time.Duration: plain seconds, with the fraction if there is one.
		if us%Second == 0 {
			return append(strconv.AppendInt(dst, us/Second, 10), 's')
		}
		return append(bytes.TrimRight(AppendDecimal(dst, us, 6), "0"), 's')
	}
	s := time.Duration(us * 1000).String()
	if strings.HasSuffix(s, "m0s") {
		s = s[:len(s)-2]
	}
	if strings.HasSuffix(s, "h0m") {
		s = s[:len(s)-2]
	}
	return append(dst, s...)
}

// ParseDuration reads a duration in microseconds: a sequence of numbers with units d, h, m, s, ms, us, such as 7d,
// 1h30m or 0.5s. Digits below the microsecond are refused.
func ParseDuration(s string) (int64, error) {
	bad := fmt.Errorf("%q is not a duration; write one such as 100ms, 60s, 1h30m or 7d", s)
	rest, neg := s, false
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		neg, rest = rest[0] == '-', rest[1:]
	}
	if rest == "" {
		return 0, bad
	}
	total := int64(0)
	for rest != "" {
		i := 0
		for i < len(rest) && (rest[i] >= '0' && rest[i] <= '9' || rest[i] == '.') {
			i++
		}
		j := i
		for j < len(rest) && (rest[j] < '0' || rest[j] > '9') && rest[j] != '.' {
			j++
		}
		unit, ok := map[string]int64{"us": 1, "µs": 1, "ms": Millisecond, "s": Second, "m": Minute, "h": Hour, "d": Day}[rest[i:j]]
		if !ok || i == 0 {
			return 0, bad
		}
		us, ok := scaleDecimal(rest[:i], unit)
		if !ok || total > math.MaxInt64-us {
			return 0, bad
		}
		total += us
		rest = rest[j:]
	}
	if neg {
		total = -total
	}
	return total, nil
}

// scaleDecimal returns the decimal text times unit if that is a whole number that fits.
func scaleDecimal(text string, unit int64) (int64, bool) {
	whole, frac, _ := strings.Cut(text, ".")
	if whole == "" && frac == "" || len(frac) > 15 {
		return 0, false
	}
	v := int64(0)
	if whole != "" {
		n, err := strconv.ParseInt(whole, 10, 64)
		if err != nil || n > math.MaxInt64/unit {
			return 0, false
		}
		v = n * unit
	}
	rest := unit
	for _, c := range frac {
		if c < '0' || c > '9' {
			return 0, false
		}
		if c == '0' {
			rest /= 10
			continue
		}
		if rest%10 != 0 {
			return 0, false
		}
		rest /= 10
		v += int64(c-'0') * rest
	}
	return v, v >= 0
}

// AppendText appends the value of row i as CSV and the command line show it, without quoting; nothing for a null.
// Floats print shortest round-trip.
func (c *Column) AppendText(dst []byte, i int) []byte {
	if c.IsNull(i) {
		return dst
	}
	switch c.Type.Kind {
	case Bool:
		return strconv.AppendBool(dst, c.Bool[i])
	case Int64:
		return strconv.AppendInt(dst, c.Int[i], 10)
	case Decimal:
		return AppendDecimal(dst, c.Int[i], c.Type.Scale)
	case Timestamp:
		return AppendTime(dst, Time(c.Int[i]))
	case Duration:
		return AppendDuration(dst, c.Int[i])
	case Float64:
		return appendFloat(dst, c.Float[i])
	case String:
		return append(dst, c.Bin(i)...)
	case Bytes:
		return hex.AppendEncode(dst, c.Bin(i))
	case IP:
		return IPAddr(c.Bin(i)).AppendTo(dst)
	case CIDR:
		return CIDRPrefix(c.Bin(i)).AppendTo(dst)
	case List:
		dst = append(dst, '[')
		for j := c.Off[i]; j < c.Off[i+1]; j++ {
			if j > c.Off[i] {
				dst = append(dst, ',')
			}
			dst = c.Elem.AppendJSON(dst, int(j), FloatNull)
		}
		return append(dst, ']')
	}
	return dst
}

func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	case f == 0:
		return append(dst, '0') // -0 is +0
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 64)
}

// FloatJSON says how NaN and the infinities, which JSON numbers lack, are written.
type FloatJSON uint8

// The ways to write them.
const (
	FloatNull FloatJSON = iota
	FloatString
)

// AppendJSON appends the value of row i as a JSON value: numbers with all digits, timestamps, durations, addresses and
// bytes (base64) as strings, decimals as numbers, nulls as null. Invalid UTF-8 is replaced.
func (c *Column) AppendJSON(dst []byte, i int, nan FloatJSON) []byte {
	if c.IsNull(i) {
		return append(dst, "null"...)
	}
	switch c.Type.Kind {
	case Bool, Int64, Decimal, List:
		return c.AppendText(dst, i)
	case Float64:
		if f := c.Float[i]; math.IsNaN(f) || math.IsInf(f, 0) {
			if nan == FloatNull {
				return append(dst, "null"...)
			}
			return append(appendFloat(append(dst, '"'), f), '"')
		}
		return appendFloat(dst, c.Float[i])
	case String:
		return AppendJSONString(dst, c.Bin(i))
	case Bytes:
		return append(base64.StdEncoding.AppendEncode(append(dst, '"'), c.Bin(i)), '"')
	}
	return append(c.AppendText(append(dst, '"'), i), '"')
}

// AppendJSONString appends v as a JSON string; invalid UTF-8 becomes U+FFFD.
func AppendJSONString(dst, v []byte) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(v); {
		c := v[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		case c < utf8.RuneSelf:
			dst = append(dst, c)
		default:
			r, n := utf8.DecodeRune(v[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, "\uFFFD"...)
			} else {
				dst = append(dst, v[i:i+n]...)
			}
			i += n
			continue
		}
		i++
	}
	return append(dst, '"')
}
