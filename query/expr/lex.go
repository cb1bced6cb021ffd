package expr

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxText is the longest expression in bytes.
const MaxText = 64 << 10

type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokName             // a name or a keyword, as written
	tokQuoted           // a name in double quotes; text is what it means
	tokString           // text is what it means
	tokNumber
	tokOp
)

// token is one lexical unit with its place [pos, end) in bytes.
type token struct {
	kind tokenKind
	text string
	pos  int
	end  int
}

// describe names the token for messages.
func (t token) describe() string {
	switch t.kind {
	case tokEnd:
		return "the end of the expression"
	case tokString:
		return "the string '" + shorten(t.text) + "'"
	}
	return "`" + shorten(t.text) + "`"
}

func shorten(s string) string {
	if len(s) <= 40 {
		return s
	}
	cut := 40
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// is reports whether the token is the operator or the keyword s; s is in lower case.
func (t token) is(s string) bool {
	return t.kind == tokOp && t.text == s || t.kind == tokName && strings.EqualFold(t.text, s)
}

// lex cuts src into tokens, the last of which is tokEnd.
func lex(src string) ([]token, *Error) {
	if len(src) > MaxText {
		return nil, &Error{Msg: fmt.Sprintf("the expression has %d bytes; the limit is %d", len(src), MaxText), Hint: "cut it into several steps"}
	}
	if !utf8.ValidString(src) {
		return nil, &Error{Offset: firstInvalid(src), Msg: "the text is not valid UTF-8"}
	}
	l := lexer{src: src}
	var out []token
	for {
		t, err := l.next()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		if t.kind == tokEnd {
			return out, nil
		}
	}
}

func firstInvalid(s string) int {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(s)
}

type lexer struct {
	src string
	at  int
}

func (l *lexer) next() (token, *Error) {
	for l.at < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.at]) >= 0 {
		l.at++
	}
	if l.at == len(l.src) {
		return token{kind: tokEnd, pos: l.at, end: l.at}, nil
	}
	switch c := l.src[l.at]; {
	case isNameStart(c):
		return l.name(), nil
	case c >= '0' && c <= '9' || c == '.' && l.at+1 < len(l.src) && isDigit(l.src[l.at+1]):
		return l.number()
	case c == '\'':
		return l.quoted(tokString, '\'', "string")
	case c == '"':
		return l.quoted(tokQuoted, '"', "name")
	}
	return l.operator()
}

// Letters beyond ASCII count as name characters, so that names in any script need no quotes.
func isNameStart(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func (l *lexer) take(kind tokenKind, n int) token {
	t := token{kind: kind, text: l.src[l.at : l.at+n], pos: l.at, end: l.at + n}
	l.at += n
	return t
}

func (l *lexer) name() token {
	n := 1
	for l.at+n < len(l.src) && (isNameStart(l.src[l.at+n]) || isDigit(l.src[l.at+n])) {
		n++
	}
	return l.take(tokName, n)
}

func (l *lexer) number() (token, *Error) {
	s := l.src[l.at:]
	n := digitRun(s, 0)
	if n < len(s) && s[n] == '.' {
		n = digitRun(s, n+1)
	}
	if n < len(s) && (s[n] == 'e' || s[n] == 'E') {
		m := n + 1
		if m < len(s) && (s[m] == '+' || s[m] == '-') {
			m++
		}
		if end := digitRun(s, m); end > m {
			n = end
		}
	}
	if n < len(s) && (isNameStart(s[n]) || s[n] == '.') {
		hint := "names that begin with a digit need double quotes"
		if s[n] != '.' {
			hint = "a duration is written duration '5m'; " + hint
		}
		return token{}, &Error{Offset: l.at, Msg: fmt.Sprintf("`%s` is not a number", shorten(s[:n+1])), Hint: hint}
	}
	return l.take(tokNumber, n), nil
}

func digitRun(s string, from int) int {
	for from < len(s) && isDigit(s[from]) {
		from++
	}
	return from
}

// quoted reads a text in quotes; the quote itself is written twice.
func (l *lexer) quoted(kind tokenKind, quote byte, what string) (token, *Error) {
	var b strings.Builder
	for i := l.at + 1; i < len(l.src); i++ {
		if l.src[i] != quote {
			b.WriteByte(l.src[i])
			continue
		}
		if i+1 < len(l.src) && l.src[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		t := token{kind: kind, text: b.String(), pos: l.at, end: i + 1}
		l.at = i + 1
		if kind == tokQuoted && t.text == "" {
			return t, &Error{Offset: t.pos, Msg: "the name is empty", Hint: "an empty string is written ''"}
		}
		return t, nil
	}
	return token{}, &Error{
		Offset: l.at,
		Msg:    fmt.Sprintf("the %s does not end", what),
		Hint:   fmt.Sprintf("close it with %c; the quote itself is written %c%c", quote, quote, quote),
	}
}

func (l *lexer) operator() (token, *Error) {
	s := l.src[l.at:]
	for _, op := range [...]string{"==", "!=", "<>", "<=", ">=", "||", "::"} {
		if strings.HasPrefix(s, op) {
			return l.take(tokOp, 2), nil
		}
	}
	if strings.IndexByte("=<>+-*/%(),.", s[0]) >= 0 {
		return l.take(tokOp, 1), nil
	}
	hint := map[byte]string{
		'&': "write AND",
		'|': "write OR, or || to join strings",
		'!': "write NOT, or != for unequal",
		'^': "write power(a, b)",
		'`': "names need no quotes, or double ones",
	}[s[0]]
	r, _ := utf8.DecodeRuneInString(s)
	return token{}, &Error{Offset: l.at, Msg: fmt.Sprintf("unexpected character %q", r), Hint: hint}
}
