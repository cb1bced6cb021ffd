package spec

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestMessagesAreVisible: what a file has in it cannot do anything to the terminal that shows a message about it, nor feign a
// line of its own, nor fill the screen.
func TestMessagesAreVisible(t *testing.T) {
	for got, want := range map[string]string{
		"`ü` — „x“ … 日本":      "`ü` — „x“ … 日本",
		"a\x00b":              `a\x00b`,
		"a\nfednode: fine":    `a\nfednode: fine`,
		"\x1b[2Jgone\r":       `\x1b[2Jgone\r`,
		"\u202egnp.exe":       `\u202egnp.exe`,
		"\xff\xfe":            `\xff\xfe`,
		"\ufffd as it stands": "\ufffd as it stands",
	} {
		require.Equal(t, "p: "+want+"; "+want, Problem{Path: "p", Msg: got, Hint: got}.Error())
	}
	long := Problem{Path: strings.Repeat("ü", 1<<19), Msg: strings.Repeat("f", 1<<20)}.Error()
	require.Less(t, len(long), 10<<10)
	require.True(t, utf8.ValidString(long))
}
