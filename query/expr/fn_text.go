package expr

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"fednode/query/tuple"
)

// params lists parameters from words "name kind", with ? after it for optional ones and ! for constants.
func params(list ...string) []param {
	out := make([]param, len(list))
	for i, s := range list {
		name, kind, _ := strings.Cut(s, " ")
		out[i].optional = strings.Contains(kind, "?")
		out[i].constant = strings.Contains(kind, "!")
		out[i].name = name
		kind = strings.TrimRight(kind, "?!")
		for k := tuple.Bool; k <= tuple.List; k++ {
			if k.String() == kind {
				out[i].kind = k
			}
		}
	}
	return out
}

var textFunctions = []function{
	{name: "length", group: "text", params: params("s string"), result: tuple.Int64,
		row: func(c *call, i int) bool { return c.setInt(i, int64(utf8.RuneCount(c.bin(0, i)))) },
		doc: "The number of characters."},
	{name: "length", group: "text", params: params("b bytes"), result: tuple.Int64, row: byteLength,
		doc: "The number of bytes."},
	{name: "byte_length", group: "text", params: params("s string"), result: tuple.Int64, row: byteLength,
		doc: "The number of bytes of the UTF-8 text."},
	{name: "lower", group: "text", params: params("s string"), result: tuple.String,
		row: func(c *call, i int) bool { return c.mapped(i, toLower) },
		doc: "s in lower case."},
	{name: "upper", group: "text", params: params("s string"), result: tuple.String,
		row: func(c *call, i int) bool { return c.mapped(i, toUpper) },
		doc: "s in upper case."},
	{name: "trim", group: "text", params: params("s string", "cut string?"), result: tuple.String,
		row: func(c *call, i int) bool { return c.setBin(i, bytes.Trim(c.bin(0, i), c.cutset(i))) },
		doc: "s without the characters of cut (white space by default) at both ends."},
	{name: "ltrim", group: "text", params: params("s string", "cut string?"), result: tuple.String,
		row: func(c *call, i int) bool { return c.setBin(i, bytes.TrimLeft(c.bin(0, i), c.cutset(i))) },
		doc: "Like trim, at the beginning only."},
	{name: "rtrim", group: "text", params: params("s string", "cut string?"), result: tuple.String,
		row: func(c *call, i int) bool { return c.setBin(i, bytes.TrimRight(c.bin(0, i), c.cutset(i))) },
		doc: "Like trim, at the end only."},
	{name: "substring", group: "text", params: params("s string", "from int64", "count int64?"), result: tuple.String, row: substring,
		doc: "count characters of s (all by default) beginning with the from-th, counted from 1; what lies outside s is left out."},
	{name: "left", group: "text", params: params("s string", "count int64"), result: tuple.String,
		row: func(c *call, i int) bool { return c.setBin(i, runes(c.bin(0, i), 0, max(0, c.int(1, i)))) },
		doc: "The first count characters."},
	{name: "right", group: "text", params: params("s string", "count int64"), result: tuple.String, row: right,
		doc: "The last count characters."},
	{name: "replace", group: "text", params: params("s string", "old string", "new string"), result: tuple.String, counts: true, row: replace,
		doc: "s with every old replaced by new; s itself where old is empty."},
	{name: "split_part", group: "text", params: params("s string", "separator string", "n int64"), result: tuple.String, row: splitPart,
		doc: "The n-th part of s, counted from 1, or from the end where n is negative; empty if there is none."},
	{name: "starts_with", group: "text", params: params("s string", "prefix string"), result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, bytes.HasPrefix(c.bin(0, i), c.bin(1, i))) },
		doc: "Whether s begins with prefix."},
	{name: "ends_with", group: "text", params: params("s string", "suffix string"), result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, bytes.HasSuffix(c.bin(0, i), c.bin(1, i))) },
		doc: "Whether s ends with suffix."},
	{name: "contains", group: "text", params: params("s string", "part string"), result: tuple.Bool,
		row: func(c *call, i int) bool { return c.setBool(i, bytes.Contains(c.bin(0, i), c.bin(1, i))) },
		doc: "Whether part occurs in s."},
	{name: "position", group: "text", params: params("s string", "part string"), result: tuple.Int64, row: position,
		doc: "The character, counted from 1, at which part first occurs in s; 0 if it does not."},
	{name: "concat", group: "text", params: params("s string"), variadic: true, result: tuple.String, lenient: true, counts: true, row: concat,
		doc: "The arguments joined; nulls are skipped, while || gives null."},
	{name: "lpad", group: "text", params: params("s string", "width int64", "fill string?"), result: tuple.String, counts: true,
		row: func(c *call, i int) bool { return c.pad(i, true) },
		doc: "s brought to width characters by fill (a space by default) on the left, or cut to it; width up to 65,536."},
	{name: "rpad", group: "text", params: params("s string", "width int64", "fill string?"), result: tuple.String, counts: true,
		row: func(c *call, i int) bool { return c.pad(i, false) },
		doc: "Like lpad, on the right."},
	{name: "repeat", group: "text", params: params("s string", "n int64"), result: tuple.String, counts: true, row: repeat,
		doc: "s n times; a result above 65,536 bytes is null and counted as overflow."},
	{name: "reverse", group: "text", params: params("s string"), result: tuple.String, row: reverse,
		doc: "The characters in reverse order."},
	{name: "to_hex", group: "text", params: params("x int64"), result: tuple.String, row: toHexInt,
		doc: "x in hexadecimal, as 64 bits where it is negative."},
	{name: "to_hex", group: "text", params: params("b bytes"), result: tuple.String, row: toHex,
		doc: "The bytes in hexadecimal."},
	{name: "from_hex", group: "text", params: params("s string"), result: tuple.Bytes, row: fromHex,
		doc: "The bytes that a hexadecimal text spells; null if it is none."},
	{name: "to_utf8", group: "text", params: params("s string"), result: tuple.Bytes,
		row: func(c *call, i int) bool { return c.setBin(i, c.bin(0, i)) },
		doc: "The bytes of the text."},
	{name: "from_utf8", group: "text", params: params("b bytes"), result: tuple.String,
		row: func(c *call, i int) bool { return utf8.Valid(c.bin(0, i)) && c.setBin(i, c.bin(0, i)) },
		doc: "The text that UTF-8 bytes spell; null if they are not UTF-8."},
}

// maxGrown bounds the results of functions that make much of little.
const maxGrown = 64 << 10

// concatOperator is ||, null where a side is.
var concatOperator = &function{name: "||", params: params("a string", "b string"), counts: true, row: func(c *call, i int) bool {
	return c.setText(i, append(append(c.tmp[:0], c.bin(0, i)...), c.bin(1, i)...))
}}

func byteLength(c *call, i int) bool { return c.setInt(i, int64(len(c.bin(0, i)))) }

// mapped stores the text with every character mapped.
func (c *call) mapped(i int, to func(dst, s []byte) []byte) bool {
	return c.setText(i, to(c.tmp[:0], c.bin(0, i)))
}

func (c *call) cutset(i int) string {
	if c.has(1) {
		return string(c.bin(1, i))
	}
	return " \t\r\n\v\f"
}

// runes returns the characters [from, to) of s, those that exist.
func runes(s []byte, from, to int64) []byte {
	if from >= to {
		return nil
	}
	at, n := 0, int64(0)
	first := -1
	for at < len(s) && n < to {
		if n == from {
			first = at
		}
		_, size := utf8.DecodeRune(s[at:])
		at += size
		n++
	}
	if first < 0 {
		return nil
	}
	return s[first:at]
}

func substring(c *call, i int) bool {
	from, to := c.int(1, i), int64(maxInt)
	from = max(from, minInt+1) - 1
	if c.has(2) {
		n := c.int(2, i)
		if n < 0 {
			n = 0
		}
		if from <= maxInt-n {
			to = from + n
		}
	}
	return c.setBin(i, runes(c.bin(0, i), max(0, from), to))
}

func right(c *call, i int) bool {
	s, n := c.bin(0, i), c.int(1, i)
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRune(s[:at])
		at -= size
	}
	return c.setBin(i, s[at:])
}

func replace(c *call, i int) bool {
	s, old, by := c.bin(0, i), c.bin(1, i), c.bin(2, i)
	if len(old) == 0 {
		return c.setBin(i, s)
	}
	out := c.tmp[:0]
	for {
		at := bytes.Index(s, old)
		if at < 0 {
			return c.setText(i, append(out, s...))
		}
		out = append(append(out, s[:at]...), by...)
		if len(out) > MaxString {
			return c.overflow()
		}
		s = s[at+len(old):]
	}
}

func splitPart(c *call, i int) bool {
	s, sep, n := c.bin(0, i), c.bin(1, i), c.int(2, i)
	if len(sep) == 0 || n == 0 {
		if n == 1 || n == -1 {
			return c.setBin(i, s)
		}
		return c.setBin(i, nil)
	}
	if n < 0 {
		n += int64(bytes.Count(s, sep)) + 2
	}
	if n < 1 {
		return c.setBin(i, nil)
	}
	for ; n > 1; n-- {
		at := bytes.Index(s, sep)
		if at < 0 {
			return c.setBin(i, nil)
		}
		s = s[at+len(sep):]
	}
	if at := bytes.Index(s, sep); at >= 0 {
		s = s[:at]
	}
	return c.setBin(i, s)
}

func position(c *call, i int) bool {
	at := bytes.Index(c.bin(0, i), c.bin(1, i))
	if at < 0 {
		return c.setInt(i, 0)
	}
	return c.setInt(i, int64(utf8.RuneCount(c.bin(0, i)[:at]))+1)
}

func concat(c *call, i int) bool {
	out := c.tmp[:0]
	for j := range c.args {
		if !c.null(j, i) {
			out = append(out, c.bin(j, i)...)
		}
	}
	return c.setText(i, out)
}

func (c *call) pad(i int, onLeft bool) bool {
	s, width, by := c.bin(0, i), c.int(1, i), []byte(" ")
	if c.has(2) {
		by = c.bin(2, i)
	}
	have := int64(utf8.RuneCount(s))
	if width <= have || len(by) == 0 {
		return c.setBin(i, runes(s, 0, max(0, width)))
	}
	if width > maxGrown {
		return c.overflow()
	}
	fill := int64(utf8.RuneCount(by))
	out := c.tmp[:0]
	if !onLeft {
		out = append(out, s...)
	}
	for n := width - have; n > 0; n -= fill {
		out = append(out, runes(by, 0, n)...)
	}
	if onLeft {
		out = append(out, s...)
	}
	return c.setText(i, out)
}

func repeat(c *call, i int) bool {
	s, n := c.bin(0, i), max(0, c.int(1, i))
	if len(s) == 0 {
		return c.setBin(i, nil)
	}
	if n > int64(maxGrown/len(s)) {
		return c.overflow()
	}
	out := c.tmp[:0]
	for range n {
		out = append(out, s...)
	}
	return c.setText(i, out)
}

func reverse(c *call, i int) bool {
	s := c.bin(0, i)
	out := slices.Grow(c.tmp[:0], len(s))
	for len(s) > 0 {
		_, size := utf8.DecodeLastRune(s)
		out = append(out, s[len(s)-size:]...)
		s = s[:len(s)-size]
	}
	return c.setText(i, out)
}
