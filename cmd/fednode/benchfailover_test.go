package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Benchmarks of failover have a table of their own, each beside its target.
func TestFailoverTable(t *testing.T) {
	all := []benchmark{
		{Name: "killed", Runs: 5, goal: goal{bound: "a subscription"}, Failover: &failoverFigures{MedianMs: 120, WorstMs: 260.4, TargetMs: 250}},
		{Name: "silent", Runs: 5, Failover: &failoverFigures{MedianMs: 380, WorstMs: 400, TargetMs: 610}},
		{Name: "cut", Runs: 5, Failover: &failoverFigures{MedianMs: 2000, WorstMs: 2100}},
		{Name: "cut again", Runs: 5, Failover: &failoverFigures{MedianMs: 2000, WorstMs: 2100, Tentative: 7}},
	}
	var out strings.Builder
	printBenchmarks(&out, "failover", all)
	require.Equal(t, `failover    MEDIAN    WORST  TENTATIVE  RUNS  TARGET                    BOUND BY
killed      120 ms   260 ms          0     5  ≤ 250 ms, 0 tentative  ✗  a subscription
silent      380 ms   400 ms          0     5  ≤ 610 ms, 0 tentative  ✓
cut        2000 ms  2100 ms          0     5  0 tentative            ✓
cut again  2000 ms  2100 ms          7     5  0 tentative            ✗

`, out.String())
	text, err := json.Marshal(all[3])
	require.NoError(t, err)
	require.JSONEq(t, `{"name":"cut again","runs":5,"failover":{"median_ms":2000,"worst_ms":2100,"tentative_rows":7}}`, string(text))
}
