package expr

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"fednode/query/tuple"
)

// number reads a number as written. Without point and exponent it is an int64; with an exponent a float64; with a point
// alone a float64 that becomes a decimal, digit for digit, where it meets one.
func (c *checker) number(n *syntax) *plan {
	if !strings.ContainsAny(n.text, ".eE") {
		i, err := strconv.ParseInt(n.text, 10, 64)
		if err != nil {
			return c.fail(n.pos, "write it as a float ("+shorten(n.text)+".0), which rounds, or keep such numbers as strings",
				"%s is beyond int64 (%d to %d)", shorten(n.text), int64(-1<<63), int64(1<<63-1))
		}
		p := constant(tuple.Of(tuple.Int64), value{i: i}, n.pos)
		p.lit, p.text = litInt, n.text
		return p
	}
	f, err := strconv.ParseFloat(n.text, 64)
	if err != nil {
		return c.fail(n.pos, "float64 ends at about 1.8e308", "%s is not a float64", shorten(n.text))
	}
	p := constant(tuple.Of(tuple.Float64), value{f: f}, n.pos)
	if !strings.ContainsAny(n.text, "eE") {
		p.lit, p.text = litNumber, n.text
	}
	return p
}

// typed reads a literal that names its type.
func (c *checker) typed(n *syntax) *plan {
	t := tuple.Type{Kind: tuple.Decimal}
	if n.name == "decimal" {
		t.Scale = fractionDigits(n.text)
	} else {
		t, _ = tuple.ParseType(n.name)
	}
	v, err := parseValue(n.text, t)
	if err != nil {
		return c.fail(n.pos, "", "%v", err)
	}
	return constant(t, v, n.pos)
}

// fractionDigits returns the digits after the point, at most one more than any decimal has.
func fractionDigits(text string) uint8 {
	_, frac, _ := strings.Cut(text, ".")
	return uint8(min(len(frac), tuple.MaxScale))
}

// decimal returns a literal number as a decimal of its own scale.
func (c *checker) decimal(a *plan) *plan {
	t := tuple.DecimalType(fractionDigits(a.text))
	v, err := parseValue(a.text, t)
	if err != nil {
		return c.fail(a.pos, "a decimal has 18 digits; cast the other side to float64 to compute with rounding", "%v", err)
	}
	return constant(t, v, a.pos)
}

// adapt returns a as a value of type t where that loses nothing: literals as t reads them, int64 as decimal or float64,
// decimal as float64 or a wider scale. what says for whom, in errors.
func (c *checker) adapt(a *plan, t tuple.Type, what string) *plan {
	switch {
	case a.typ == t:
		return a
	case a.lit == litNull:
		return constant(t, value{null: true}, a.pos)
	case a.lit == litString && t.Kind != tuple.String:
		v, err := parseValue(string(a.val.s), t)
		if err != nil {
			return c.fail(a.pos, literalAdvice(t), "%v", err)
		}
		return constant(t, v, a.pos)
	case a.lit == litNumber && t.Kind == tuple.Decimal:
		v, err := parseValue(a.text, t)
		if err != nil {
			return c.fail(a.pos, "", "%v", err)
		}
		return constant(t, v, a.pos)
	case canWiden(a.typ, t):
		return fold(&plan{op: opCast, typ: t, args: []*plan{a}, pos: a.pos})
	}
	return c.fail(a.pos, castAdvice(a.typ, t), "%s needs %v, got %v", what, t, a.typ)
}

// canWiden reports whether every value of from is one of to, floats by rounding to the nearest.
func canWiden(from, to tuple.Type) bool {
	switch to.Kind {
	case tuple.Float64:
		return from.Kind == tuple.Int64 || from.Kind == tuple.Decimal
	case tuple.Decimal:
		return from.Kind == tuple.Int64 || from.Kind == tuple.Decimal && from.Scale <= to.Scale
	}
	return from == to
}

func literalAdvice(t tuple.Type) string {
	switch t.Kind {
	case tuple.Timestamp:
		return "write RFC 3339 such as '2026-11-29T10:00:00Z'"
	case tuple.IP:
		return "write an address such as '10.0.0.1'; prefixes are tested with ip_in(src, '10.0.0.0/8')"
	case tuple.CIDR:
		return "write a prefix such as '10.0.0.0/8'"
	}
	return ""
}

// parseValue reads the text of a value of type t, as literals and casts do.
func parseValue(text string, t tuple.Type) (value, error) {
	v, ok := readValue(text, t)
	if ok {
		return v, nil
	}
	return value{}, badText(text, t)
}

func readValue(text string, t tuple.Type) (v value, ok bool) {
	switch t.Kind {
	case tuple.String:
		return value{s: []byte(text)}, true
	case tuple.Bool:
		v.b = strings.EqualFold(text, "true") || text == "1"
		return v, v.b || strings.EqualFold(text, "false") || text == "0"
	case tuple.Int64:
		i, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return value{i: i}, err == nil
	case tuple.Float64:
		return readFloat(strings.TrimSpace(text))
	case tuple.Decimal:
		i, err := tuple.ParseDecimal(strings.TrimSpace(text), t.Scale)
		return value{i: i}, err == nil
	case tuple.Timestamp:
		return readTime(text)
	case tuple.Duration:
		i, err := tuple.ParseDuration(text)
		return value{i: i}, err == nil
	case tuple.Bytes:
		b, err := hex.DecodeString(text)
		return value{s: b}, err == nil
	case tuple.IP:
		a, err := netip.ParseAddr(text)
		b := tuple.IPBytes(a.Unmap().WithZone(""))
		return value{s: b[:]}, err == nil
	case tuple.CIDR:
		return readCIDR(text)
	}
	return value{}, false
}

// readFloat reads a number, NaN or an infinity; hexadecimal and underscores are Go's, not ours.
func readFloat(text string) (value, bool) {
	if strings.ContainsAny(text, "xXpP_") {
		return value{}, false
	}
	f, err := strconv.ParseFloat(text, 64)
	return value{f: f}, err == nil
}

// readCIDR reads a prefix, or an address as the prefix of its full length.
func readCIDR(text string) (value, bool) {
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return value{}, false
		}
		a = a.Unmap()
		p = netip.PrefixFrom(a, a.BitLen())
	}
	b := tuple.CIDRBytes(p)
	return value{s: b[:]}, true
}
