package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/spec"
)

// right is a file without a mistake; each test makes one.
const right = `[query]
name = "w"
[streams.s]
connector = "file"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "decimal(2)" }
[operators.a]
kind = "aggregate"
input = "s"
window = { tumbling = "60s" }
group_by = ["k"]
aggregates = { n = "count()" }
[operators.t]
kind = "sort"
input = "a"
window = "same"
by = [{ column = "n", desc = true }]
[outputs.o]
input = "t"
connector = "node"
`

// problemsOf returns the errors of a file in which old stands no longer but new does.
func problemsOf(t *testing.T, old, new string) []spec.Problem {
	t.Helper()
	require.Equal(t, 1, strings.Count(right, old), old)
	none := func(string) (string, bool) { return "", false }
	_, p := query.Parse("q.toml", []byte(strings.Replace(right, old, new, 1)), query.Options{Env: none})
	return p.Errors
}

func TestTheRightFileIsRight(t *testing.T) {
	require.Empty(t, problemsOf(t, `name = "w"`, `name = "w"`))
}

// One mistake is one error, at the place where it was made: nothing that only follows from it is said on top.
func TestAMistakeIsSaidOnce(t *testing.T) {
	for _, c := range []struct{ old, new, path, says string }{
		{`name = "w"`, `name = "${NOPE}"`, "query.name", "NOPE is not set"},
		{`name = "w"`, `nam = "w"`, "query.nam", "unknown key `nam`"},
		{`connector = "file"`, `connector = "${NOPE}"`, "streams.s.connector", "NOPE is not set"},
		{`connector = "file"`, `conector = "file"`, "streams.s.conector", "unknown key `conector`"},
		{`connector = "node"`, `conector = "node"`, "outputs.o.conector", "unknown key `conector`"},
		{`time = "ts"`, `time = "${NOPE}"`, "streams.s.time", "NOPE is not set"},
		{`v = "decimal(2)"`, `v = "${NOPE}"`, "streams.s.columns.v", "NOPE is not set"},
		{`v = "decimal(2)"`, `v = 99999999999999999999`, "streams.s.columns.v", "not an integer in the range"},
		{`v = "decimal(2)"`, `v = { typ = "int64" }`, "streams.s.columns.v.typ", "unknown key `typ`"},
		{`kind = "aggregate"`, `kind = "${NOPE}"`, "operators.a.kind", "NOPE is not set"},
		{`kind = "aggregate"`, `knd = "aggregate"`, "operators.a.knd", "unknown key `knd`"},
		{`input = "s"`, `inptu = "s"`, "operators.a.inptu", "unknown key `inptu`"},
		{`input = "s"`, `input = "${NOPE}"`, "operators.a.input", "NOPE is not set"},
		{`window = { tumbling = "60s" }`, `windo = { tumbling = "60s" }`, "operators.a.windo", "unknown key `windo`"},
		{`tumbling = "60s"`, `tumbling = "${NOPE}"`, "operators.a.window.tumbling", "NOPE is not set"},
		{`tumbling = "60s"`, `tumbling = nan`, "operators.a.window.tumbling", "expected a string, got a float"},
		{`["k"]`, `["${NOPE}"]`, "operators.a.group_by[0]", "NOPE is not set"},
		{`"count()"`, `"${NOPE}"`, "operators.a.aggregates.n", "NOPE is not set"},
		{`desc = true`, `desc = 1`, "operators.t.by[0].desc", "expected a boolean, got an integer"},
	} {
		errs := problemsOf(t, c.old, c.new)
		require.Len(t, errs, 1, "%s: %v", c.new, errs)
		require.Equal(t, c.path, errs[0].Path, c.new)
		require.Contains(t, errs[0].Msg, c.says, c.new)
	}
}

// Two mistakes are two errors, also where they are at one key.
func TestTwoMistakesAreSaid(t *testing.T) {
	errs := problemsOf(t, `name = "w"`, `name = "${NOPE}${NEITHER}"`)
	require.Len(t, errs, 2)
	require.Contains(t, fmt.Sprint(errs), "NEITHER")
}

func TestTheRangeOfADecimalIsSaid(t *testing.T) {
	for _, typ := range []string{"decimal(40)", "decimal", "list(decimal(19))"} {
		errs := problemsOf(t, "decimal(2)", typ)
		require.Len(t, errs, 1)
		require.Contains(t, errs[0].Hint, "0 to 18", typ)
	}
}
