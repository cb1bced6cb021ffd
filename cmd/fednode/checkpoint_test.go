package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// levels are flags of the published system of two levels, and what follows.
func levels(command string, more ...string) []string {
	return append([]string{"checkpoint", command, "--failure-rate", "24/d,0.4/d", "--cost", "10s,30s", "--restart", "10s,30s"}, more...)
}

// The document has the keys that page and scripts rely on, with the published values.
func TestCheckpointPlan(t *testing.T) {
	var got checkpointPlan
	okJSON(t, &got, levels("plan")...)
	require.InDelta(t, 271.67, got.Interval, 0.03)
	require.Len(t, got.Probabilities, 2)
	require.InDelta(t, 0.8737, got.Probabilities[0], 0.00005)
	require.InDelta(t, 0.9062, *got.Utilization, 0.0001)
	require.InDelta(t, 471.15, got.SingleLevel.Interval, 0.01)
	require.Less(t, *got.SingleLevel.Utilization, *got.Utilization)
	require.InDelta(t, 271.70, got.Approximation.Interval, 0.01)
	require.InDelta(t, 0.8693, got.Approximation.Probabilities[0], 0.0001)
	require.True(t, got.ModelValid)
	okJSON(t, &got, levels("plan", "--path-length", "500", "--hop-delay", "0.5s")...)
	require.InDelta(t, 271.92, got.Interval, 0.03)
	require.InDelta(t, 0.8691, got.Probabilities[0], 0.00005)
	raw := map[string]any{}
	okJSON(t, &raw, levels("plan")...)
	for _, key := range []string{"interval_s", "probabilities", "utilization", "single_level", "approximation", "model_valid"} {
		require.Contains(t, raw, key)
	}
	require.NotContains(t, raw["single_level"], "probabilities")

	text := ok(t, levels("plan")...)
	require.Contains(t, text, "best                 271.67 s   0.8737   0.1263       0.9062\n")
	require.Contains(t, text, "every 35m52s")
	require.Contains(t, text, "The model holds: it is less than 0.0001 off.")
}

// Levels that cost nothing, that never fail, that fail more often than those below.
func TestCheckpointPlanSaysWhatIsUnusual(t *testing.T) {
	text := ok(t, "checkpoint", "plan", "--failure-rate", "4/d,0.5/d,1/30d,0/d", "--cost", "0s,0.2s,8s,9s", "--restart", "1s,4s,2m,1h")
	require.Contains(t, text, "always there")
	require.Contains(t, text, "never")
	text = ok(t, "checkpoint", "plan", "--failure-rate", "0.4/d,1/h", "--cost", "10s,30s", "--restart", "10s,30s")
	require.Contains(t, text, "note: level 2 fails more often than level 1")
	text = ok(t, "checkpoint", "plan", "--failure-rate", "24/d,0.4/d", "--cost", "1s,100s", "--restart", "10s,30s")
	require.Contains(t, text, "note: the interval is as short as it may be, 100 s")
}

func TestCheckpointSimulate(t *testing.T) {
	var got, again checkpointSimulation
	args := levels("simulate", "--runs", "20", "--duration", "100d", "--seed", "7")
	okJSON(t, &got, args...)
	okJSON(t, &again, args...)
	require.Equal(t, got, again)
	require.InDelta(t, 271.67, got.Interval, 0.03)
	require.InDelta(t, *got.Utilization.Model, got.Utilization.Mean, max(2*got.Utilization.StdErr, 0.003))
	require.Equal(t, 20, got.Runs)
	require.InDelta(t, 100*86400, got.Duration, 0)
	okJSON(t, &again, levels("simulate", "--runs", "20", "--duration", "100d", "--seed", "8")...)
	require.NotEqual(t, got.Utilization.Mean, again.Utilization.Mean)

	// Where the model does not hold it says so, and the process comes to something else.
	far := []string{"checkpoint", "simulate", "--failure-rate", "24/d,4/d", "--cost", "10s,300s", "--restart", "10s,300s",
		"--interval", "400s", "--probabilities", "0.95,0.05", "--duration", "50d"}
	okJSON(t, &got, far...)
	require.Equal(t, []float64{0.95, 0.05}, got.Probabilities)
	require.InDelta(t, 0.537, *got.Utilization.Model, 0.0005)
	require.InDelta(t, 0.619, got.Utilization.Mean, 0.006)
	require.False(t, got.ModelValid)
	require.Contains(t, ok(t, far...), "The model does not hold here")
	// Farther still it says nothing.
	okJSON(t, &got, levels("simulate", "--interval", "4000s", "--probabilities", "0.9999,0.0001", "--runs", "5", "--duration", "50d")...)
	require.Nil(t, got.Utilization.Model)
	require.False(t, got.ModelValid)
}

// One part given, the other is the best for it.
func TestCheckpointSimulateFixesParts(t *testing.T) {
	var got checkpointSimulation
	okJSON(t, &got, levels("simulate", "--interval", "200s", "--runs", "2", "--duration", "10d")...)
	require.InDelta(t, 200, got.Interval, 0)
	require.Greater(t, got.Probabilities[0], 0.88)
	okJSON(t, &got, levels("simulate", "--probabilities", "0.5,0.5", "--runs", "2", "--duration", "10d")...)
	require.Greater(t, got.Interval, 280.0)
}

func TestCheckpointPlots(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plots")
	ok(t, levels("plan", "--plots", dir)...)
	ok(t, levels("simulate", "--plots", dir, "--runs", "3", "--duration", "10d")...)
	for _, file := range []string{"utilization.svg", "probabilities.svg", "interval.svg", "share.svg"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Contains(t, string(text), "</svg>")
		require.NotContains(t, string(text), "NaN")
	}
}

// Every mistake of a command line is told at once, with its flag, its level and what was expected.
func TestCheckpointRefuses(t *testing.T) {
	refuses(t, exitWrong, []string{"--failure-rate is missing", "--cost is missing", "--restart is missing", "see fednode checkpoint plan --help"}, "checkpoint", "plan")
	refuses(t, exitWrong, []string{
		"--failure-rate, level 1, `24`: expected failures in a time such as 24/d, 0.5/h or 1/30d", "--failure-rate, level 2, `x/d`:",
		"--failure-rate, level 3, `1/0d`:", "--cost, level 1, `10`: expected a duration such as 0.5s", "--path-length: 0: expected 1 to 1,000,000 operators",
		"--hop-delay: -1 s: expected 0 or more", "--plots main.go: expected a directory",
	}, "checkpoint", "plan", "--failure-rate", "24,x/d,1/0d", "--cost", "10,30s", "--restart", "10s", "--path-length", "0", "--hop-delay", "-1s", "--plots", "main.go")
	refuses(t, exitWrong, []string{"--cost: 1 value: expected one for each of the 2 levels of --failure-rate", "--restart: 3 values:"},
		"checkpoint", "plan", "--failure-rate", "24/d,1/d", "--cost", "10s", "--restart", "1s,2s,3s")
	refuses(t, exitWrong, []string{"--failure-rate of level 1: NaN a day", "--failure-rate of level 2: +Inf a day", "--failure-rate of level 3: -1 a day",
		"--restart of level 2: -5 s", "--cost of level 3: 10 s: expected levels in order"},
		"checkpoint", "plan", "--failure-rate", "NaN/d,inf/d,-1/d", "--cost", "10s,30s,10s", "--restart", "1s,-5s,3s")
	refuses(t, exitWrong, []string{"nothing fails that needs a checkpoint"}, "checkpoint", "plan", "--failure-rate", "0/d", "--cost", "10s", "--restart", "1s")
	refuses(t, exitWrong, []string{"--probabilities: 1.1: expected a sum of 1", "--interval: 20 s: expected no less than a checkpoint takes", "--runs 1: expected 2 to 1,000,000",
		"--duration 0s: expected more than 0"}, levels("simulate", "--interval", "20s", "--probabilities", "0.5,0.6", "--runs", "1", "--duration", "0s")...)
	refuses(t, exitWrong, []string{"--probabilities of level 1: NaN: expected 0 to 1", "--interval x: expected a duration"},
		levels("simulate", "--interval", "x", "--probabilities", "NaN,0.5")...)
	refuses(t, exitWrong, []string{"--probabilities: 1: expected one for each of the 2 levels"}, levels("simulate", "--probabilities", "1")...)
	refuses(t, exitWrong, []string{"a duration of 8.64e+12 s: expected at most"}, levels("simulate", "--duration", "100000000d")...)
}

// That no plan can keep up is an answer, not a wrong command line.
func TestCheckpointCannotKeepUp(t *testing.T) {
	for _, command := range []string{"plan", "simulate"} {
		refuses(t, exitFailed, []string{"no plan can keep up: a checkpoint of level 2 takes 4000 s, and failures that interrupt it come every 3540.98 s"},
			"checkpoint", command, "--failure-rate", "24/d,0.4/d", "--cost", "10s,4000s", "--restart", "10s,30s")
	}
}
