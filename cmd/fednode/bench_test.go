package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each part measures something, and says what its figures should come to.
func TestBench(t *testing.T) {
	var got struct{ Benchmarks []benchmark }
	okJSON(t, &got, "bench", "engine", "--runs", "1", "--records", "100000")
	require.Len(t, got.Benchmarks, len(engineRows())+2)
	byName := make(map[string]benchmark)
	for _, b := range got.Benchmarks {
		byName[b.Name] = b
		require.Positive(t, b.NsPerRecord, b.Name)
		require.Equal(t, 100_000, b.Records, b.Name)
		require.NotNil(t, b.AllocsPerRecord, b.Name)
	}
	q2 := byName["Q2"]
	require.InDelta(t, q2.PlainNsPerRecord/q2.NsPerRecord, q2.Ratio, 1e-9)

	text := ok(t, "bench", "log", "--quick", "--runs", "1", "--dir", t.TempDir())
	require.Contains(t, text, "log_append_1KiB_groups_of_1024_synced")
	require.Contains(t, text, "ratio ≥ 0.70")

	var latency struct{ Benchmarks []benchmark }
	okJSON(t, &latency, "bench", "latency", "--quick", "--dir", t.TempDir())
	require.Len(t, latency.Benchmarks, 1)
	require.Positive(t, latency.Benchmarks[0].WindowCloseMs)

	var wire struct{ Benchmarks []benchmark }
	okJSON(t, &wire, "bench", "wire", "--quick", "--runs", "1")
	require.NotEmpty(t, wire.Benchmarks)
	require.Positive(t, wire.Benchmarks[0].BytesPerRecord)
}

func TestBenchRefuses(t *testing.T) {
	refuses(t, exitWrong, []string{"bench has no part `engines`", "engine, wire, log, latency"}, "bench", "engines")
	refuses(t, exitWrong, []string{"--runs 0: expected 1 to 1000"}, "bench", "engine", "--runs", "0")
	refuses(t, exitWrong, []string{"--records 5: expected 100000"}, "bench", "engine", "--records", "5")
	refuses(t, exitWrong, []string{"expected a directory that exists"}, "bench", "log", "--dir", "/no/such/directory")
}

// A target is met from exactly itself on.
func TestGoal(t *testing.T) {
	for _, c := range []struct {
		goal goal
		b    benchmark
		text string
		ok   bool
	}{
		{atLeast(0.7, ""), benchmark{Ratio: 0.7}, "ratio ≥ 0.70", true},
		{atLeast(0.7, ""), benchmark{Ratio: 0.69}, "ratio ≥ 0.70", false},
		{atMost(10, ""), benchmark{NsPerRecord: 10}, "≤ 10 ns", true},
		{atMost(10, ""), benchmark{NsPerRecord: 10.1}, "≤ 10 ns", false},
		{goal{ms: 10}, benchmark{WindowCloseMs: 11}, "≤ 10 ms", false},
		{goal{}, benchmark{}, "", true},
	} {
		text, ok := c.goal.text(&c.b)
		require.Equal(t, c.text, text)
		require.Equal(t, c.ok, ok, text)
	}
}
