package expr

import (
	"bytes"
	"fmt"
	"regexp"
	resyntax "regexp/syntax"
	"unicode/utf8"

	"fednode/query/tuple"
)

// Limits of a regular expression: its bytes, and the steps it compiles to, which a few bytes such as \pL{1000} can make
// many and each byte of a text may visit.
const (
	maxPattern = 4096
	maxSteps   = 10_000
)

var patternFunctions = []function{
	{name: "matches", group: "pattern", params: params("s string", "pattern string!"), result: tuple.Bool, row: matchRow, prepare: regexpAt(1),
		doc: "Whether the regular expression (RE2) occurs in s; the same as s MATCHES pattern."},
	{name: "regexp_extract", group: "pattern", params: params("s string", "pattern string!", "group int64?"), result: tuple.String, row: regexpExtract, prepare: regexpAt(1),
		doc: "What the group (0, the whole match, by default) matched first; null if nothing did."},
	{name: "regexp_replace", group: "pattern", params: params("s string", "pattern string!", "by string"), result: tuple.String, counts: true, row: regexpReplace, prepare: regexpAt(1),
		doc: "s with every match replaced; $1 in by stands for a group, $$ for a dollar."},
	{name: "regexp_count", group: "pattern", params: params("s string", "pattern string!"), result: tuple.Int64, row: regexpCount, prepare: regexpAt(1),
		doc: "How many times the pattern occurs, not overlapping."},
}

var (
	likeOperator    = &function{name: "LIKE", params: []param{{name: "s"}, {name: "pattern", constant: true}, {name: "escape", constant: true}}, row: likeRow, prepare: prepareLike}
	matchesOperator = &function{name: "MATCHES", params: []param{{name: "s"}, {name: "pattern", constant: true}}, row: matchRow, prepare: regexpAt(1)}
)

// regexpAt compiles the pattern that is argument n.
func regexpAt(n int) func(args []*plan) (any, int, error) {
	return func(args []*plan) (any, int, error) {
		v := args[n].val
		switch {
		case v.null:
			return (*regexp.Regexp)(nil), n, nil
		case len(v.s) > maxPattern:
			return nil, n, fmt.Errorf("the pattern has %d bytes; the limit is %d", len(v.s), maxPattern)
		}
		re, err := compilePattern(string(v.s))
		return re, n, err
	}
}

func compilePattern(text string) (*regexp.Regexp, error) {
	tree, err := resyntax.Parse(text, resyntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression (RE2): %w", err)
	}
	steps, err := resyntax.Compile(tree.Simplify())
	if err != nil {
		return nil, fmt.Errorf("the pattern is not a regular expression (RE2): %w", err)
	}
	if n := len(steps.Inst); n > maxSteps {
		return nil, fmt.Errorf("the pattern compiles to %d steps; the limit is %d, so repeat less", n, maxSteps)
	}
	return regexp.Compile(text)
}

func matchRow(c *call, i int) bool {
	return c.setBool(i, c.state.(*regexp.Regexp).Match(c.bin(0, i)))
}

func regexpExtract(c *call, i int) bool {
	group := int64(0)
	if c.has(2) {
		group = c.int(2, i)
	}
	s := c.bin(0, i)
	at := c.state.(*regexp.Regexp).FindSubmatchIndex(s)
	if group < 0 || group >= int64(len(at)/2) || at[2*group] < 0 {
		return false
	}
	return c.setBin(i, s[at[2*group]:at[2*group+1]])
}

func regexpReplace(c *call, i int) bool {
	re, s, by := c.state.(*regexp.Regexp), c.bin(0, i), c.bin(2, i)
	out, last := c.tmp[:0], 0
	for _, at := range re.FindAllSubmatchIndex(s, -1) {
		out = append(out, s[last:at[0]]...)
		out = re.Expand(out, by, s, at)
		last = at[1]
		if len(out) > MaxString {
			return c.overflow()
		}
	}
	return c.setText(i, append(out, s[last:]...))
}

func regexpCount(c *call, i int) bool {
	return c.setInt(i, int64(len(c.state.(*regexp.Regexp).FindAllIndex(c.bin(0, i), -1))))
}

// like is a LIKE pattern cut at its % signs: the pieces follow one another, the first at the beginning and the last at
// the end unless a % stands there. In a piece, anyChar stands for one character.
type like struct {
	pieces [][]rune
	lone   bool // no % at all: the one piece is the whole text
}

const anyChar = rune(-1)

// prepareLike reads the pattern; the escape character (a backslash by default) makes the next one mean itself.
func prepareLike(args []*plan) (any, int, error) {
	escape := '\\'
	if len(args) == 3 && !args[2].val.null {
		r, size := utf8.DecodeRune(args[2].val.s)
		if size == 0 || size != len(args[2].val.s) {
			return nil, 2, fmt.Errorf("ESCAPE needs one character")
		}
		escape = r
	}
	l := &like{pieces: [][]rune{nil}, lone: true}
	text, last := []rune(string(args[1].val.s)), 0
	for i := 0; i < len(text); i++ {
		r := text[i]
		switch {
		case r == escape:
			if i++; i == len(text) {
				return nil, 1, fmt.Errorf("the pattern ends in its escape character")
			}
			l.pieces[last] = append(l.pieces[last], text[i])
		case r == '%':
			l.pieces, l.lone = append(l.pieces, nil), false
			last++
		case r == '_':
			l.pieces[last] = append(l.pieces[last], anyChar)
		default:
			l.pieces[last] = append(l.pieces[last], r)
		}
	}
	return l, 1, nil
}

func likeRow(c *call, i int) bool { return c.setBool(i, c.state.(*like).match(c.bin(0, i))) }

func (l *like) match(s []byte) bool {
	n := prefixLength(s, l.pieces[0])
	if n < 0 {
		return false
	}
	s = s[n:]
	if l.lone {
		return len(s) == 0
	}
	// The earliest place of each piece leaves most for the others; the last piece must end the text.
	for _, piece := range l.pieces[1 : len(l.pieces)-1] {
		at, size := find(s, piece)
		if at < 0 {
			return false
		}
		s = s[at+size:]
	}
	return endsWith(s, l.pieces[len(l.pieces)-1])
}

// prefixLength returns how many bytes of s the piece takes at its beginning, -1 if it does not match there.
func prefixLength(s []byte, piece []rune) int {
	at := 0
	for _, want := range piece {
		if at == len(s) {
			return -1
		}
		r, size := utf8.DecodeRune(s[at:])
		if want != anyChar && want != r {
			return -1
		}
		at += size
	}
	return at
}

func find(s []byte, piece []rune) (at, size int) {
	if len(piece) == 0 {
		return 0, 0
	}
	for at < len(s) {
		if piece[0] != anyChar && piece[0] != utf8.RuneError {
			skip := bytes.IndexRune(s[at:], piece[0])
			if skip < 0 {
				return -1, 0
			}
			at += skip
		}
		if n := prefixLength(s[at:], piece); n >= 0 {
			return at, n
		}
		_, step := utf8.DecodeRune(s[at:])
		at += step
	}
	return -1, 0
}

func endsWith(s []byte, piece []rune) bool {
	for i := len(piece) - 1; i >= 0; i-- {
		if len(s) == 0 {
			return false
		}
		r, size := utf8.DecodeLastRune(s)
		if piece[i] != anyChar && piece[i] != r {
			return false
		}
		s = s[:len(s)-size]
	}
	return true
}
