package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed returns what a printer makes of lines, and what it warns of.
func printed(t *testing.T, p tailPrinter, lines ...string) (out, errs string) {
	t.Helper()
	var o, e strings.Builder
	p.out, p.errs = &o, &e
	for _, line := range lines {
		require.NoError(t, p.line([]byte(line)))
	}
	return o.String(), e.String()
}

// latestLines are a failure and its end.
func latestLines() []string {
	return []string{
		`{"event":"stable","id":41,"stime":"2026-03-01T10:00:00Z","n":7}`,
		`{"event":"tentative","id":null,"stime":"2026-03-01T10:00:01Z","n":3}`,
		`{"event":"undo","from":"2026-03-01T10:00:01Z"}`,
		`{"event":"undo","from":null}`,
		`{"event":"stable","id":42,"stime":"2026-03-01T10:00:01Z","n":5}`,
		`{"event":"done","before":"2026-03-01T10:00:02Z"}`,
		`{"event":"done","before":"end"}`,
		`{"event":"gap","from":"2026-03-01T10:00:02Z","to":"2026-03-01T10:00:03Z","reason":"gone"}`,
	}
}

func TestLatestTailForPeople(t *testing.T) {
	out, errs := printed(t, tailPrinter{latest: true}, latestLines()...)
	require.Equal(t, `  id  stime                 n
  41  2026-03-01T10:00:00Z  7
? -   2026-03-01T10:00:01Z  3
✗ void: the tentative rows above from 2026-03-01T10:00:01Z on
✗ void: all tentative rows
  42  2026-03-01T10:00:01Z  5
✓ replaced by the stable rows above: the tentative rows before 2026-03-01T10:00:02Z
✓ replaced by the stable rows above: all tentative rows
`, out)
	require.Equal(t, "warning: stable rows are lost: from 2026-03-01T10:00:02Z to 2026-03-01T10:00:03Z: gone\n", errs)
}

func TestLatestTailForPrograms(t *testing.T) {
	out, _ := printed(t, tailPrinter{latest: true, raw: true}, latestLines()...)
	require.Equal(t, strings.Join(latestLines(), "\n")+"\n", out)
}

// A column may be called event: without --mode latest no line says what it is.
func TestStableTail(t *testing.T) {
	out, errs := printed(t, tailPrinter{}, `{"id":1,"stime":"2026-03-01T10:00:00Z","event":"undo"}`, `{"gap":{"from":null,"to":"end","reason":"gone"}}`)
	require.Equal(t, "id  stime                 event\n1   2026-03-01T10:00:00Z  undo\n", out)
	require.Equal(t, "warning: stable rows are lost: from the beginning to the end: gone\n", errs)
	_, errs = printed(t, tailPrinter{}, `{"gap":{"from":null,"to":null,"reason":"rows up to id 7 are gone"}}`)
	require.Equal(t, "warning: stable rows are lost: rows up to id 7 are gone\n", errs)
}
