package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/cmd/fednode/internal/regionbench"
)

// TestMain lets the benchmark of two daemons start this program as its daemons.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "bench" && os.Args[2] == serveName {
		os.Exit(run())
	}
	os.Exit(m.Run())
}

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

	var regions struct{ Benchmarks []benchmark }
	okJSON(t, &regions, "bench", "regions", "--runs", "1")
	require.Len(t, regions.Benchmarks, len(regionbench.Cases())*len(regionbench.Sizes()))
	require.Positive(t, regions.Benchmarks[0].RestartMs)
	require.Equal(t, 20_000, regions.Benchmarks[3].Records)

	var wire struct{ Benchmarks []benchmark }
	okJSON(t, &wire, "bench", "wire", "--quick", "--runs", "1")
	require.NotEmpty(t, wire.Benchmarks)
	require.Positive(t, wire.Benchmarks[0].BytesPerRecord)
}

// Two daemons pass records on, leave a profile each, and nothing else behind.
func TestBenchDaemons(t *testing.T) {
	dir, profiles := t.TempDir(), t.TempDir()
	var got struct{ Benchmarks []benchmark }
	okJSON(t, &got, "bench", "daemons", "--runs", "1", "--records", "100000", "--dir", dir, "--profile", profiles)
	require.Len(t, got.Benchmarks, 1)
	b := got.Benchmarks[0]
	require.Positive(t, b.RecordsPerSecond)
	require.Positive(t, b.SourceNsPerRecord)
	require.Positive(t, b.ClientNsPerRecord)
	require.InDelta(t, b.SourceNsPerRecord+b.ClientNsPerRecord, b.NsPerRecord, 1e-9)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	for _, side := range []string{"source", "client"} {
		info, err := os.Stat(filepath.Join(profiles, side+".pprof"))
		require.NoError(t, err)
		require.Positive(t, info.Size())
	}
}

func TestBenchRefuses(t *testing.T) {
	refuses(t, exitWrong, []string{"bench has no part `engines`", "engine, wire, log, latency, daemons, failover, regions"}, "bench", "engines")
	refuses(t, exitWrong, []string{"--runs 0: expected 1 to 1000"}, "bench", "engine", "--runs", "0")
	refuses(t, exitWrong, []string{"--records 5: expected 100000"}, "bench", "engine", "--records", "5")
	refuses(t, exitWrong, []string{"--dir /no/such/directory: expected a directory that exists"}, "bench", "log", "--dir", "/no/such/directory")
	refuses(t, exitWrong, []string{"--profile /no/such/directory: expected a directory that exists"}, "bench", "daemons", "--profile", "/no/such/directory")
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
		{goal{ms: 20}, benchmark{RestartMs: 21}, "≤ 20 ms", false},
		{goal{rate: 2e6}, benchmark{RecordsPerSecond: 2e6}, "≥ 2,000,000/s", true},
		{goal{rate: 2e6}, benchmark{RecordsPerSecond: 1.9e6}, "≥ 2,000,000/s", false},
		{goal{}, benchmark{}, "", true},
	} {
		text, ok := c.goal.text(&c.b)
		require.Equal(t, c.text, text)
		require.Equal(t, c.ok, ok, text)
	}
}
