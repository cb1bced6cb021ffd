package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// simulate runs the command and returns what it prints.
func simulate(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	root := newRoot()
	root.SetOut(&out)
	root.SetErr(&out)
	root.SetArgs(append([]string{"testnet", "simulate"}, args...))
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// A case that cannot be stable in time is made smaller, printed as a file, and that file fails again, the same way.
func TestSimulateFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.toml")
	require.NoError(t, os.WriteFile(file, []byte(`seed = 3
fragments = 1
settle = "0s"
trouble = "5s"
faults = ["5.5s reset s0 f1.0", "6s crash f1.0 for 4s", "8s cut s1 f1.1 for 2s"]
`), 0o644))
	out, err := simulate(t, "--spec", file)
	require.ErrorContains(t, err, "seed 3")
	require.Equal(t, exitFailed, exitCode(err))
	_, small, found := strings.Cut(out, "\n# ")
	require.True(t, found, out)
	require.NotContains(t, small, "reset")
	require.NoError(t, os.WriteFile(file, []byte("# "+small), 0o644))
	again, err := simulate(t, "--spec", file, "--minimise", "0")
	require.Error(t, err)
	require.Equal(t, "# "+small, again)
}

// A run is traced as JSON lines, and two runs of a seed are alike.
func TestSimulateTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.toml")
	require.NoError(t, os.WriteFile(file, []byte("fragments = 1\ntrouble = \"3s\"\nsettle = \"20s\"\n"), 0o644))
	trace, err := simulate(t, "--spec", file, "--seed", "7", "--trace", "-")
	require.NoError(t, err)
	for line := range strings.Lines(trace) {
		require.True(t, json.Valid([]byte(line)), line)
	}
	again, err := simulate(t, "--spec", file, "--seed", "7", "--trace", "-")
	require.NoError(t, err)
	require.Equal(t, trace, again)
}

// Several runs are summed up.
func TestSimulateSum(t *testing.T) {
	file := filepath.Join(t.TempDir(), "spec.toml")
	require.NoError(t, os.WriteFile(file, []byte("fragments = 1\ntrouble = \"3s\"\nsettle = \"20s\"\n"), 0o644))
	out, err := simulate(t, "--spec", file, "--runs", "4", "--json")
	require.NoError(t, err, out)
	var sum simulateSum
	require.NoError(t, json.Unmarshal([]byte(out), &sum), out)
	require.Equal(t, 4, sum.Runs)
	require.Greater(t, sum.Simulated, 20.0)
	require.Positive(t, sum.StableRows)
}

// What is wrong with the command line or the file is said.
func TestSimulateRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "case.toml")
	for text, want := range map[string]string{
		`faults = ["1s melt f1.0 for 3s"]`:  "not known",
		`faults = ["1s crash f9.0 for 3s"]`: "no such node",
		`faults = ["1s quiet f1.0 for 3s"]`: "not a source",
		`fragments = 99`:                    "fragments",
		`colour = "red"`:                    "colour",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		_, err := simulate(t, "--spec", file)
		require.ErrorContains(t, err, want, text)
		require.Equal(t, exitWrong, exitCode(err), text)
	}
	for _, args := range [][]string{{"--runs", "0"}, {"--seed", "-1"}, {"--workers", "0"}, {"--minimise", "-1"}, {"--runs", "2", "--trace", "x"}, {"--spec", "/nowhere/x"}} {
		_, err := simulate(t, args...)
		require.Equal(t, exitWrong, exitCode(err), args)
	}
}
