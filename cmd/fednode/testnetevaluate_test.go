package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/testnet/evaluate"
)

// evaluation runs the command and returns what it prints.
func evaluation(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&strings.Builder{})
	root.SetArgs(append([]string{"testnet", "evaluate"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// One experiment is printed as a table and as JSON, and written as files.
func TestEvaluate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made")
	out, err := evaluation(t, "--only", "within-hold", "--quick", "--out", dir)
	require.NoError(t, err, out)
	require.Contains(t, out, "INCREMENTAL")
	require.Contains(t, out, "0 tentative rows in 8 runs")
	require.NotContains(t, out, "PUBLISHED")
	html, err := os.ReadFile(filepath.Join(dir, "evaluation.html"))
	require.NoError(t, err)
	require.Contains(t, string(html), "fednode testnet evaluate --only within-hold --quick")
	file, err := os.ReadFile(filepath.Join(dir, "evaluation.json"))
	require.NoError(t, err)
	printed, err := evaluation(t, "--only", "within-hold", "--quick", "--json")
	require.NoError(t, err)
	require.Equal(t, cellsOf(t, file), cellsOf(t, []byte(printed)), "the figures of two evaluations differ")
}

// cellsOf returns the experiments of a document, without when and where they were made.
func cellsOf(t *testing.T, b []byte) string {
	t.Helper()
	var d struct {
		Experiments json.RawMessage
		Targets     []evaluate.Target
	}
	require.NoError(t, json.Unmarshal(b, &d))
	require.NotEmpty(t, d.Targets)
	return string(d.Experiments)
}

// What is wrong with the command line is said before anything runs.
func TestEvaluateRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	for _, args := range [][]string{{"--seeds", "0"}, {"--workers", "0"}, {"--only", "nothing"}, {"--out", file}, {"more"}} {
		_, err := evaluation(t, args...)
		require.Equal(t, exitWrong, exitCode(err), args)
	}
}
