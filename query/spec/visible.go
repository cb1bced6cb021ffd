package spec

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostShown is how much of a part of a message is shown: a file can have a key or a number of a megabyte.
const mostShown = 4 << 10

// visible makes a part of a message fit for a terminal and a log: what a file has in it is repeated in messages, and may be
// somebody else's. Characters that would not be seen, or would do something, are written as in a Go string, and of a long
// text the beginning is shown.
func visible(s string) string {
	if len(s) > mostShown {
		s = strings.ToValidUTF8(s[:mostShown], "") + "…"
	}
	if utf8.ValidString(s) && strings.IndexFunc(s, unseen) < 0 {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case unseen(r):
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		default:
			b.WriteRune(r)
		}
		s = s[n:]
	}
	return b.String()
}

func unseen(r rune) bool { return !unicode.IsPrint(r) }
