package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// On a terminal rows take one line: times leave their day to a line of its own, and what is still too wide is cut.
func TestTailFitsTheTerminal(t *testing.T) {
	rows := []string{
		`{"id":41,"stime":"2026-03-01T23:59:59.5Z","window_start":"2026-03-01T23:59:58Z","window_end":"2026-03-01T23:59:59Z","src":"10.0.0.7","name":"a","n":7}`,
		`{"id":42,"stime":"2026-03-02T00:00:01Z","window_start":"2026-03-02T00:00:00Z","window_end":"2026-03-02T00:00:01Z","src":"2001:db8:85a3:8d3:1319:8a2e:370:7348","name":"a name that is longer than the room there is for it","n":1234567}`,
	}
	out, _ := printed(t, tailPrinter{room: 80}, rows...)
	require.Equal(t, `2026-03-01, times in UTC
id  stime       window_start  window_end  src       name  n
41  23:59:59.5  23:59:58      23:59:59    10.0.0.7  a     7
2026-03-02, times in UTC
42  00:00:01    00:00:00      00:00:01    2001:db8:85a…  a name that i…  1234567
`, out)
	for _, room := range []int{40, 60, 80, 120} {
		out, _ := printed(t, tailPrinter{room: room, latest: true}, `{"event":"tentative",`+rows[1][1:])
		for line := range strings.Lines(out) {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), max(room, 7*(leastColumn+tailGap)), line)
		}
	}
	whole, _ := printed(t, tailPrinter{}, rows...)
	require.Contains(t, whole, "2026-03-02T00:00:01Z", "what is not for a terminal is whole")
	require.NotContains(t, whole, "…")
}
