package spec

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// offsetMap maps offsets of a text to offsets of what it was made from: an anchor at each place where the two stop
// running side by side. A nil map means one byte further, past an opening quote.
type offsetMap []anchor

type anchor struct {
	text   int
	source int
	fixed  bool // the text from here on has no counterpart but this place: a variable's value
}

// source returns the offset that a byte of the text came from.
func (m offsetMap) source(offset int) int {
	if m == nil {
		return offset + 1
	}
	i := sort.Search(len(m), func(i int) bool { return m[i].text > offset }) - 1
	if i < 0 {
		return 0
	}
	if m[i].fixed {
		return m[i].source
	}
	return m[i].source + offset - m[i].text
}

// shifted appends to dst the anchors of the stretch [lo, hi) of the text, which now begins at the offset `to`.
func (m offsetMap) shifted(dst offsetMap, lo, hi, to int) offsetMap {
	dst = append(dst, anchor{text: to, source: m.source(lo)})
	for _, a := range m {
		if a.text > lo && a.text < hi {
			dst = append(dst, anchor{text: a.text - lo + to, source: a.source, fixed: a.fixed})
		}
	}
	return dst
}

// decodeMap returns the map from the text of a TOML string to its raw form, quotes and all; nil if there is neither an
// escape nor a second line.
func decodeMap(raw string) offsetMap {
	quotes := 1
	if len(raw) >= 6 && (raw[:3] == `"""` || raw[:3] == "'''") {
		quotes = 3
	}
	escapes := raw[0] == '"' && strings.IndexByte(raw, '\\') >= 0
	if quotes == 1 && !escapes {
		return nil
	}
	i := quotes
	if quotes == 3 {
		i += newlineAt(raw, i)
	}
	m := offsetMap{{source: i}}
	for text := 0; escapes && i < len(raw)-quotes; {
		if raw[i] != '\\' {
			i++
			text++
			continue
		}
		width, length := escape(raw[i:])
		i += length
		text += width
		m = append(m, anchor{text: text, source: i})
	}
	return m
}

// newlineAt returns the length of the line end at i, 0 if there is none.
func newlineAt(s string, i int) int {
	switch {
	case strings.HasPrefix(s[i:], "\r\n"):
		return 2
	case strings.HasPrefix(s[i:], "\n"):
		return 1
	}
	return 0
}

// escape returns how many bytes of text the escape at the head of s makes, and its own length. The parser has checked
// its form.
func escape(s string) (width, length int) {
	if len(s) < 2 {
		return 0, len(s)
	}
	digits := 0
	switch s[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case ' ', '\t', '\r', '\n':
		rest := strings.TrimLeft(s[1:], " \t\r\n")
		return 0, len(s) - len(rest)
	default:
		return 1, 2
	}
	var r rune
	for i := 2; i < min(2+digits, len(s)); i++ {
		r = r<<4 | rune(hexDigit(s[i]))
	}
	return max(utf8.RuneLen(r), 1), min(2+digits, len(s))
}

func hexDigit(c byte) int {
	switch {
	case c >= 'a':
		return int(c-'a') + 10
	case c >= 'A':
		return int(c-'A') + 10
	}
	return int(c - '0')
}

// undefined is a reference that could not be put in; at is its offset in the raw string.
type undefined struct {
	at   int
	msg  string
	hint string
}

// expand puts variables into a text and returns it with its map; the map is unchanged where the text is.
func expand(text string, m offsetMap, env Env) (string, offsetMap, []undefined) {
	if env == nil || !strings.Contains(text, "${") {
		return text, m, nil
	}
	var out strings.Builder
	var bad []undefined
	next := offsetMap{}
	for i := 0; i < len(text); {
		n := strings.Index(text[i:], "${")
		if n < 0 {
			n = len(text) - i
		}
		next = m.shifted(next, i, i+n, out.Len())
		out.WriteString(text[i : i+n])
		if i += n; i == len(text) {
			break
		}
		if n > 0 && text[i-1] == '$' { // $${ is a plain ${
			next = append(next, anchor{text: out.Len(), source: m.source(i + 1)})
			out.WriteString("{")
			i += 2
			continue
		}
		value, length, u := reference(text[i:], env)
		if u == nil && out.Len()+len(value) > MaxFileBytes {
			u = &undefined{msg: fmt.Sprintf("the text with its variables has more than %d bytes", MaxFileBytes)}
		}
		if u != nil {
			u.at = m.source(i)
			bad = append(bad, *u)
			value = ""
		}
		if value != "" {
			next = append(next, anchor{text: out.Len(), source: m.source(i), fixed: true})
			out.WriteString(value)
		}
		i += length
	}
	return out.String(), next, bad
}

// reference reads ${NAME} or ${NAME:-text} at the head of s, and returns its value and its length.
func reference(s string, env Env) (value string, length int, bad *undefined) {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return "", len(s), &undefined{msg: "`${` has no closing brace", hint: "write $${ for a plain ${"}
	}
	name, def, hasDef := strings.Cut(s[2:end], ":-")
	length = end + 1
	if !isName(name) || strings.Contains(name, "-") {
		return "", length, &undefined{msg: fmt.Sprintf("`%s` is not the name of a variable", name), hint: "write $${ for a plain ${"}
	}
	if v, ok := env(name); ok && (v != "" || !hasDef) {
		return v, length, nil
	}
	if hasDef {
		return def, length, nil
	}
	return "", length, &undefined{
		msg:  fmt.Sprintf("the variable %s is not set in the environment", name),
		hint: fmt.Sprintf("set it, or give a default: ${%s:-…}", name),
	}
}
