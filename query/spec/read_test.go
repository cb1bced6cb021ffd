package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Everything wrong with a table is reported in one run, in order of place, with near names.
func TestReaderReportsEverythingAtOnce(t *testing.T) {
	tree, errs := parse(strings.Join([]string{
		`[o]`,
		`kind = 7`,
		`windwo = "5s"`,
		`late = "dropp"`,
		`slack = "5 parsecs"`,
		`n = 99`,
		`names = ["a", 1]`,
		`sub = "x"`,
		`empty = ""`,
		`wildly_different = 1`,
	}, "\n"))
	require.Empty(t, errs)
	var p Problems
	r := Read(tree.Lookup("o").Value.Table, &p)
	r.String("kind", "")
	r.Table("window", false)
	r.OneOf("late", "drop", "drop", "side", "clamp")
	r.Duration("slack", 0, 0, 1000)
	r.Int("n", 0, 1, 10)
	require.Len(t, r.Strings("names", true), 1)
	r.Table("sub", false)
	r.NeedString("empty")
	r.NeedString("gone")
	r.Done()
	require.Equal(t, strings.Join([]string{
		"q.toml:1:2: o.gone: the key `gone` is missing",
		"q.toml:2:8: o.kind: expected a string, got an integer",
		"q.toml:3:1: o.windwo: unknown key `windwo`; did you mean `window`?",
		"q.toml:4:8: o.late: `dropp` is not one of drop, side, clamp; did you mean `drop`?",
	}, "\n"), strings.Join(strings.Split(p.Err().Error(), "\n")[:4], "\n"))
	rest := strings.Join(strings.Split(p.Err().Error(), "\n")[4:], "\n")
	for _, want := range []string{"q.toml:5:9: o.slack: ", "q.toml:6:5: o.n: 99 is out of range; expected 1 to 10",
		"q.toml:7:15: o.names: expected a string, got an integer", "q.toml:8:7: o.sub: expected a table, got a string",
		"q.toml:9:9: o.empty: `empty` is empty", "unknown key `wildly_different`; there are: kind, window"} {
		require.Contains(t, rest, want)
	}
}

func TestReaderValues(t *testing.T) {
	tree, _ := parse("a = \"x\"\nb = true\nc = 5\nd = \"1m30s\"\ne = [\"p\", \"q\"]\nf = \"lone\"\n[g]\n")
	var p Problems
	r := Read(tree, &p)
	require.Equal(t, "x", r.String("a", ""))
	require.True(t, r.Bool("b", false))
	require.EqualValues(t, 5, r.Int("c", 0, 0, 10))
	require.EqualValues(t, 90_000_000, r.Duration("d", 0, 0, 1<<40))
	require.Len(t, r.Strings("e", true), 2)
	require.Equal(t, "lone", r.Strings("f", true)[0].Str)
	require.NotNil(t, r.Table("g", true))
	require.Equal(t, "def", r.String("none", "def"))
	require.True(t, r.Bool("none", true))
	require.Nil(t, r.Strings("none", false))
	r.Done()
	require.NoError(t, p.Err())
}

func TestNear(t *testing.T) {
	names := []string{"window", "where", "group_by", "input", "inputs", "kind"}
	for got, want := range map[string]string{"windwo": "window", "Where": "where", "groupby": "group_by", "imput": "input",
		"zzz": "", "": "", "kidn": "kind", "windows": "window"} {
		require.Equal(t, want, Near(got, names), got)
	}
	require.Equal(t, "did you mean `kind`?", DidYouMean("knd", names))
	require.Equal(t, "there are: a, b", DidYouMean("quite another", []string{"a", "b"}))
	require.Empty(t, DidYouMean("x", nil))
}

func TestProblemsAreCountedBeyondTheLimit(t *testing.T) {
	var p Problems
	for i := range MaxProblems + 3 {
		p.Add(Pos{File: "f", Line: MaxProblems + 3 - i, Column: 1}, "", "", "no %d", i)
		p.Warn(Pos{}, "", "", "w")
	}
	require.Len(t, p.Warnings, MaxProblems)
	text := p.Err().Error()
	require.True(t, strings.HasPrefix(text, "f:4:1: no"), "sorted by place: %.40s", text)
	require.True(t, strings.HasSuffix(text, "and 3 more errors"))
}
