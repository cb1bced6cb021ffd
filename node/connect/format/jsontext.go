package format

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"fednode/node/connect"
)

type jsonKind uint8

const (
	jsonString jsonKind = iota
	jsonNumber
	jsonWord // true, false
	jsonNull
	jsonArray
	jsonObject
)

// jsonValue is the text of a value: of a string what it means, of anything else as it stands.
type jsonValue struct {
	text []byte
	kind jsonKind
}

func kindOf(first byte) jsonKind {
	switch first {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	case 'n':
		return jsonNull
	case 't', 'f':
		return jsonWord
	}
	return jsonNumber
}

// appendJSON reads a value that is not null. A string column takes any value as its text; arrays are for lists, and a
// list of a lone value is none.
func (c *column) appendJSON(v jsonValue) connect.Reason {
	switch v.kind {
	case jsonArray, jsonObject:
		if c.parse == parseList && v.kind == jsonArray {
			return c.appendArray(v.text)
		}
		if c.parse != parseString {
			return connect.WrongType
		}
	case jsonNumber, jsonWord:
		if c.parse == parseList || c.parse == parseBase64 {
			return connect.WrongType
		}
	case jsonString:
		if c.parse == parseList {
			return connect.WrongType
		}
	}
	return c.appendText(v.text)
}

// appendArray reads a JSON array as a list.
func (c *column) appendArray(text []byte) connect.Reason {
	reason := c.appendElements(text)
	if reason != connect.OK {
		c.elem.truncate(int(c.off[len(c.off)-1]))
		return reason
	}
	c.endList()
	return connect.OK
}

func (c *column) appendElements(text []byte) connect.Reason {
	i := skipBlank(text, 0)
	if i == len(text) || text[i] != '[' {
		return connect.WrongType
	}
	if i = skipBlank(text, i+1); i < len(text) && text[i] == ']' {
		return trailing(text, i+1)
	}
	for i < len(text) {
		end := skipValue(text, i)
		if end < 0 {
			return connect.WrongType
		}
		if reason := c.appendElement(text[i:end]); reason != connect.OK {
			return reason
		}
		if i = skipBlank(text, end); i == len(text) {
			break
		}
		if text[i] == ']' {
			return trailing(text, i+1)
		}
		if text[i] != ',' {
			break
		}
		i = skipBlank(text, i+1)
	}
	return connect.WrongType
}

func trailing(text []byte, i int) connect.Reason {
	if skipBlank(text, i) < len(text) {
		return connect.WrongType
	}
	return connect.OK
}

func (c *column) appendElement(raw []byte) connect.Reason {
	v := jsonValue{raw, kindOf(raw[0])}
	if raw[0] == '"' {
		s, reason := unescapeJSON(nil, raw[1:len(raw)-1])
		if reason == connect.Syntax {
			return connect.WrongType
		}
		if reason != connect.OK {
			return reason
		}
		v = jsonValue{s, jsonString}
	}
	if v.kind == jsonNull {
		c.elem.appendNull()
		return connect.OK
	}
	return c.elem.appendJSON(v)
}

// skipBlank returns the place of the first byte from i on that is not white space.
func skipBlank(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// stringEnd returns the place of the quote that closes a string whose first character is at i, or -1, and whether there
// are escapes before it.
func stringEnd(text []byte, i int) (end int, escaped bool) {
	const (
		ones    = 0x0101010101010101
		low7    = 0x7F7F7F7F7F7F7F7F
		quotes  = '"' * ones
		escapes = '\\' * ones
	)
	for {
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			q, e := w^quotes, w^escapes
			// The top bit of each byte that is a quote or a backslash, exactly.
			m := ^((q&low7 + low7) | q | low7) | ^((e&low7 + low7) | e | low7)
			if m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		for i < len(text) && text[i] != '"' && text[i] != '\\' {
			i++
		}
		if i >= len(text) {
			return -1, escaped
		}
		if text[i] == '"' {
			return i, escaped
		}
		escaped = true
		if i += 2; i > len(text) {
			return -1, escaped
		}
	}
}

// quoteEnd returns the place of the first quote from i on, or -1.
func quoteEnd(text []byte, i int) int {
	const (
		low7   = 0x7F7F7F7F7F7F7F7F
		quotes = '"' * 0x0101010101010101
	)
	for ; i+8 <= len(text); i += 8 {
		q := binary.LittleEndian.Uint64(text[i:]) ^ quotes
		if m := ^((q&low7 + low7) | q | low7); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(text); i++ {
		if text[i] == '"' {
			return i
		}
	}
	return -1
}

// skipValue returns the place behind the value at i; if there is none, -1 minus the place where it stops being one.
func skipValue(text []byte, i int) int {
	if i >= len(text) {
		return -1 - i
	}
	switch text[i] {
	case '"':
		end, _ := stringEnd(text, i+1)
		if end < 0 {
			return -1 - len(text)
		}
		return end + 1
	case '{', '[':
		return skipNested(text, i)
	}
	return skipScalar(text, i)
}

// skipScalar passes over a number, true, false or null. NaN and the infinities are no JSON, but widely written.
func skipScalar(text []byte, i int) int {
	start := i
	for i < len(text) && text[i]-'0' <= 9 {
		i++ // most are digits and nothing else
	}
	if i > start && i < len(text) && (text[i] == ',' || text[i] == '}') {
		return i
	}
	for i < len(text) {
		c := text[i]
		if c == ',' || c == '}' || c == ']' || c <= ' ' || c == ':' || c == '"' {
			break
		}
		i++
	}
	v := text[start:i]
	if len(v) == 0 {
		return -1 - start
	}
	if c := v[0]; c >= '0' && c <= '9' || c == '-' && len(v) > 1 && v[1] >= '0' && v[1] <= '9' {
		if looksNumber(v) {
			return i
		}
		return -1 - start
	}
	switch string(v) {
	case "true", "false", "null", "NaN", "Infinity", "-Infinity":
		return i
	}
	return -1 - start
}

// skipNested passes over an object or array without recursion: the input chooses the depth. Brackets must match, and
// values and separators must alternate.
func skipNested(text []byte, i int) int {
	var isArray uint64 // a bit a level
	depth := 0
	open := func(c byte) {
		isArray <<= 1
		if c == '[' {
			isArray |= 1
		}
		depth++
	}
	open(text[i])
	value := true // a value (in an object: a key) may come here
	fresh := true // right behind an opening bracket: a closing one may come, too
	for i++; ; {
		if i = skipBlank(text, i); i == len(text) {
			return -1 - i
		}
		c := text[i]
		switch {
		case c == ']' || c == '}':
			if (c == ']') != (isArray&1 == 1) || value && !fresh {
				return -1 - i
			}
			isArray >>= 1
			i++
			if depth--; depth == 0 {
				return i
			}
			value, fresh = false, false
			continue
		case !value:
			if c != ',' {
				return -1 - i
			}
			i++
			value, fresh = true, false
			continue
		}
		if isArray&1 == 0 {
			if i = skipKey(text, i); i < 0 {
				return i
			}
			c = text[i]
		}
		if c == '[' || c == '{' {
			if depth == maxDepth {
				return -1 - i
			}
			open(c)
			value, fresh = true, true
			i++
			continue
		}
		if i = skipValue(text, i); i < 0 {
			return i
		}
		value, fresh = false, false
	}
}

// skipKey passes over a key and its colon and returns the place of the value.
func skipKey(text []byte, i int) int {
	if text[i] != '"' {
		return -1 - i
	}
	end, _ := stringEnd(text, i+1)
	if end < 0 {
		return -1 - len(text)
	}
	if i = skipBlank(text, end+1); i == len(text) || text[i] != ':' {
		return -1 - i
	}
	if i = skipBlank(text, i+1); i == len(text) {
		return -1 - i
	}
	return i
}

// unescapeJSON appends the meaning of a string's text. The reason is Syntax for an escape that JSON does not have, and
// BadUTF8 for half of a surrogate pair: it is no character, and another in its place would change the value silently.
func unescapeJSON(dst, s []byte) ([]byte, connect.Reason) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		if i++; i == len(s) {
			return dst, connect.Syntax
		}
		switch c := s[i]; c {
		case '"', '\\', '/':
			dst = append(dst, c)
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, size, reason := unicodeEscape(s[i+1:])
			if reason != connect.OK {
				return dst, reason
			}
			i += size
			dst = utf8.AppendRune(dst, r)
		default:
			return dst, connect.Syntax
		}
	}
	return dst, connect.OK
}

// unicodeEscape reads the four digits behind \u, and the low half of a pair behind a high one. size is what they take.
func unicodeEscape(s []byte) (r rune, size int, reason connect.Reason) {
	r, ok := hexRune(s, 0)
	if !ok {
		return 0, 0, connect.Syntax
	}
	if !utf16.IsSurrogate(r) {
		return r, 4, connect.OK
	}
	if len(s) < 6 || s[4] != '\\' || s[5] != 'u' {
		return 0, 0, connect.BadUTF8
	}
	low, ok := hexRune(s, 6)
	if !ok {
		return 0, 0, connect.Syntax
	}
	if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
		return 0, 0, connect.BadUTF8
	}
	return r, 10, connect.OK
}

func hexRune(s []byte, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(s[i:i+4]), 16, 32)
	return rune(v), err == nil
}
