package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPartOf: a part has nothing of its own, nothing twice or out of its order, and ends as the whole does.
func TestPartOf(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.csv")
	require.NoError(t, os.WriteFile(whole, []byte("a\nb\nc\nd\n"), 0o600))
	for text, difference := range map[string]string{
		"a\nb\nc\nd\n":    "",
		"a\nd\n":          "",
		"d\n":             "",
		"":                "ends before `a`",
		"a\nb\n":          "ends before `c`",
		"a\nc\nb\nd\n":    ":3: `b`",
		"a\nb\nb\nc\nd\n": ":3: `b`",
		"a\nx\nd\n":       ":2: `x`",
		"a\nd\ne\n":       ":3: `e`",
		"a\nd\ne":         ":3: `e` is no whole line",
		"a\nb\nc\nd":      ":4: `d` is no whole line",
	} {
		path := filepath.Join(dir, "part.csv")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		ok, got, err := partOf(path, whole)
		require.NoError(t, err)
		require.Equal(t, difference == "", ok, text)
		if !ok {
			require.Contains(t, got, difference, text)
		}
	}
}
