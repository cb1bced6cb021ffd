package format

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// appendText reads the text of a value and appends it. Nothing is appended unless it returns OK.
func (c *column) appendText(v []byte) connect.Reason {
	switch c.parse {
	case parseString, parseIP, parseCIDR, parseHex, parseRaw, parseBase64:
		code, reason := c.words.code(v, len(c.codes))
		if reason != connect.OK {
			return reason
		}
		c.codes = append(c.codes, code)
	case parseInt:
		x, reason := readInt(v)
		if reason != connect.OK {
			return reason
		}
		c.ints = append(c.ints, x)
	case parseTime:
		x, reason := c.times.read(v, c.unit)
		if reason != connect.OK {
			return reason
		}
		c.ints = append(c.ints, x)
	case parseFloat:
		x, reason := readFloat(v)
		if reason != connect.OK {
			return reason
		}
		c.floats = append(c.floats, x)
	default:
		return c.appendRare(v)
	}
	if c.valid != nil {
		c.valid = append(c.valid, true)
	}
	return connect.OK
}

// appendRare is appendText for the types that are rarely many.
func (c *column) appendRare(v []byte) connect.Reason {
	switch c.parse {
	case parseDecimal:
		x, reason := readDecimal(v, c.typ.Scale)
		if reason != connect.OK {
			return reason
		}
		c.appendInt(x)
	case parseBool:
		x, ok := readBool(v)
		if !ok {
			return connect.WrongType
		}
		c.appendBool(x)
	case parseDuration:
		x, reason := readDuration(v, c.unit)
		if reason != connect.OK {
			return reason
		}
		c.appendInt(x)
	case parseList:
		if c.sep != 0 {
			return c.appendSet(v)
		}
		return c.appendArray(v)
	}
	return connect.OK
}

// appendSet reads a Zeek set or vector: elements with a separator between them.
func (c *column) appendSet(v []byte) connect.Reason {
	if len(v) > 0 && string(v) != zeekEmpty {
		for more := true; more; {
			var e []byte
			e, v, more = bytes.Cut(v, []byte{c.sep})
			if string(e) == zeekUnset {
				c.elem.appendNull()
			} else if reason := c.elem.appendText(e); reason != connect.OK {
				c.elem.truncate(int(c.off[len(c.off)-1]))
				return reason
			}
		}
	}
	c.endList()
	return connect.OK
}

// describe says what was found in a value and what was expected.
func (c *column) describe(v []byte, reason connect.Reason) string {
	shown := quoteText(v)
	switch reason {
	case connect.NoTime:
		return "the time of the row is missing"
	case connect.BadUTF8:
		if utf8.Valid(v) {
			return shown + " has half of a surrogate pair, which is no character"
		}
		return shown + " is not UTF-8; declare the column as bytes to keep it"
	case connect.WrongUnit:
		return c.times.describeUnit(v, c.unit, c.spec.Unit)
	case connect.OutOfRange:
		switch c.typ.Kind {
		case tuple.Int64:
			return shown + " does not fit an int64; declare the column as string to keep it"
		case tuple.Decimal:
			return fmt.Sprintf("%s does not fit %v", shown, c.typ)
		}
		return fmt.Sprintf("%s is beyond the range of %v", shown, c.typ)
	}
	if c.typ.Kind == tuple.Timestamp {
		return shown + " is not a timestamp; expected " + c.expectedTime()
	}
	if c.typ.Kind == tuple.Duration && c.unit.Mul == 0 && looksNumber(v) {
		return shown + " is a number without a unit; give the column a `unit`"
	}
	return fmt.Sprintf("%s is not of type %v", shown, c.typ)
}

func (c *column) expectedTime() string {
	s := c.spec
	switch {
	case s.Layout != "":
		return "the layout " + s.Layout
	case len(s.From) > 0:
		return "numbers in " + strings.Join(s.From, ", ")
	case s.Unit != "":
		return "a number in " + s.Unit
	case s.Zone != "":
		return "RFC 3339, such as 2006-01-02T15:04:05, in " + s.Zone
	}
	return "RFC 3339 with an offset, such as 2006-01-02T15:04:05Z; a number needs `unit`, another form `layout`, text without an offset `zone`"
}

// quoteText shows a value in a message, its beginning if it is long.
func quoteText(v []byte) string {
	const most = 80
	if len(v) > most {
		return fmt.Sprintf("%q… (%d bytes)", v[:most], len(v))
	}
	return fmt.Sprintf("%q", v)
}
