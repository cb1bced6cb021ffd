package expr

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Size, depth and the number of parts are bounded, each with a clear error; just within the bounds all is well.
func TestLimits(t *testing.T) {
	schema := propSchema()
	for src, want := range map[string]string{
		strings.Repeat(" ", MaxText) + "i":              "the limit is 65536",
		strings.Repeat("(", 70) + "i":                   "nests deeper than 64",
		strings.Repeat("not ", 100) + "b":               "nests deeper than 64",
		strings.Repeat("abs(", 65) + "i":                "nests deeper than 64",
		"i" + strings.Repeat("+i", 2000):                "more than 1024 parts",
		"i = 1\xff":                                     "not valid UTF-8",
		"s = '" + strings.Repeat("x", MaxText):          "the limit is 65536",
		"s matches '" + strings.Repeat("a", 5000) + "'": "the limit is 4096",
		`s matches '\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}\pL{1000}'`: "the limit is 10000",
		"":  "empty",
		" ": "empty",
	} {
		_, errs := Compile(src, schema)
		require.NotEmpty(t, errs)
		require.Contains(t, errs[0].Msg, want)
	}
	for _, src := range []string{
		strings.Repeat("(", 60) + "i" + strings.Repeat(")", 60),
		"i" + strings.Repeat("+i", 500),
		"b" + strings.Repeat(" and b", 500),
		"i in (1" + strings.Repeat(",2", 20_000) + ")",
		"s = '" + strings.Repeat("x", 60_000) + "'",
	} {
		p, errs := Compile(src, schema)
		require.Empty(t, errs)
		require.Equal(t, 3, p.NewEval().Eval(plainBatch(schema, true)).Rows())
	}
}

// At most so many errors are reported, sorted by place.
func TestErrorsSorted(t *testing.T) {
	_, errs := Compile("aa + "+strings.Repeat("bb + ", 50)+"cc", propSchema())
	require.Len(t, errs, maxErrors)
	for i := 1; i < len(errs); i++ {
		require.Less(t, errs[i-1].Offset, errs[i].Offset)
	}
}

// Every function has a description, and a script that shows what it does.
func TestFunctionsShown(t *testing.T) {
	var all strings.Builder
	files, err := filepath.Glob("testdata/script/*.txt")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(text)
	}
	for _, f := range Functions() {
		require.NotEmpty(t, f.Group, f.Name)
		require.True(t, strings.HasSuffix(f.Doc, "."), f.Name)
		require.Contains(t, f.Signature, f.Name+"(")
		if !strings.Contains(all.String(), f.Name+"(") {
			t.Errorf("no script shows %s", f.Name)
		}
	}
}
