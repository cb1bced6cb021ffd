package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// history writes a load history.
func history(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "load.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// daily is a load that is 1.5 times the speed for a fifth of the time.
func daily() string {
	var b strings.Builder
	b.WriteString("time,load\n")
	for i := range 100 {
		load := 0.33
		if i%5 == 0 {
			load = 1.5
		}
		fmt.Fprintf(&b, "%d,%g\n", 60*i, load)
	}
	return b.String()
}

// The same history gives the same advice; what is said stands in the JSON and in the table.
func TestContractAdvise(t *testing.T) {
	args := []string{"contract", "advise", "--history", history(t, daily()), "--nodes", "40", "--moments", "2", "--most", "5", "--upkeep", "0.05"}
	var doc struct {
		Best   int
		Counts []struct {
			Contracts   int
			Probability float64 `json:"overload_probability"`
			Overload    float64 `json:"expected_overload"`
			Worth       float64
			Pays        bool
		}
		Ranges []float64 `json:"price_range_for_relays"`
	}
	okJSON(t, &doc, args...)
	require.Len(t, doc.Counts, 6)
	require.InDelta(t, 0.2, doc.Counts[0].Probability, 0.12)
	require.Less(t, doc.Counts[5].Overload, doc.Counts[0].Overload/4)
	require.Greater(t, doc.Best, 0)
	require.True(t, doc.Counts[doc.Best].Pays)
	require.InDelta(t, 0.05, doc.Ranges[0], 0.002)
	plots := t.TempDir()
	out := ok(t, append(args, "--plots", plots)...)
	require.Contains(t, out, fmt.Sprintf("%.4f", doc.Counts[0].Overload))
	require.Regexp(t, `5\.0 % for 1 relay, 13\.8 % for 2 relays and 21\.5 % for 3 relays`, out)
	require.Equal(t, out, ok(t, args...))
	for _, name := range []string{"overload.svg", "cost.svg"} {
		require.FileExists(t, filepath.Join(plots, name))
	}
}

// A distribution instead of a history; times with a zone, and another unit of load.
func TestContractAdviseInputs(t *testing.T) {
	small := []string{"--nodes", "20", "--moments", "1", "--most", "1"}
	require.Contains(t, ok(t, append([]string{"contract", "advise", "--load", "0.6", "--spread", "0.4"}, small...)...), "CONTRACTS")
	path := history(t, "# rows a second\n2026-11-01T00:00:00Z,500\n2026-11-01T01:00:00+01:00,900\n")
	refuses(t, exitWrong, []string{path + ":3: the time 2026-11-01T01:00:00+01:00 is not after the one before, in line 2"}, append([]string{"contract", "advise", "--history", path, "--capacity", "1000"}, small...)...)
	path = history(t, "2026-11-01T00:00:00Z,500\n2026-11-01T01:00:01+01:00,900\n")
	require.Contains(t, ok(t, append([]string{"contract", "advise", "--history", path, "--capacity", "1000"}, small...)...), "CONTRACTS")
}

// A gap is said, and counts for one step.
func TestContractAdviseGap(t *testing.T) {
	path := history(t, "0,0.5\n1,0.5\n2,0.9\n3,0.5\n1000,0.5\n1001,0.5\n")
	r := command(t, "contract", "advise", "--history", path, "--nodes", "20", "--moments", "1", "--most", "0")
	require.Zero(t, r.code, r.err)
	require.Contains(t, r.err, "load.csv:4: no reading for 997 s after this one, where 1 s are usual")
}

func TestContractAdviseRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"0,0.5\n1,NaN\n":              "load.csv:2: the load is NaN",
		"0,0.5\n1,-1\n":               "load.csv:2: the load is -1",
		"0,0.5\n1,+Inf\n":             "load.csv:2: the load is +Inf",
		"0,0.5\n1,11\n":               "0 to 10 times --capacity (1) is expected",
		"0,0.5\n1,x\n":                `the load "x" is not a number`,
		"0,0.5\nyesterday,1\n":        `the time "yesterday" is neither`,
		"0,0.5\nNaN,1\n":              "the time is NaN",
		"5,0.5\n1,0.5\n":              "sort the file by time",
		"0,0.5\n0,0.5\n":              "sort the file by time",
		"0,0.5,7\n1,0.5\n":            "3 fields: time,load are expected",
		"time,load\n":                 "0 readings: 2 at least",
		"0,0\n1,0\n":                  "all loads are 0",
		"":                            "0 readings",
		"\"\n":                        "load.csv",
		"0,1\nx,1\n1,y\n2,NaN\n3,1\n": "load.csv:4: the load is NaN",
	} {
		refuses(t, exitWrong, []string{says}, "contract", "advise", "--history", history(t, text))
	}
	for _, c := range []struct {
		says string
		args []string
	}{
		{"--history FILE, or --load with --spread, is missing", nil},
		{"not both", []string{"--history", "x.csv", "--load", "1"}},
		{"no such file", []string{"--history", "x.csv"}},
		{"/dev/zero", []string{"--history", "/dev/zero"}},
		{"--load -1", []string{"--load", "-1"}},
		{"--load +Inf", []string{"--load", "Inf"}},
		{"--spread NaN", []string{"--load", "0.5", "--spread", "NaN"}},
		{"--capacity 0", []string{"--load", "0.5", "--capacity", "0"}},
		{"upkeep +Inf", []string{"--load", "0.5", "--upkeep", "inf"}},
		{"upkeep -1", []string{"--load", "0.5", "--upkeep", "-1"}},
		{"7 participants", []string{"--load", "0.5", "--nodes", "7"}},
		{"price range 2", []string{"--load", "0.5", "--price-range", "2"}},
	} {
		refuses(t, exitWrong, []string{c.says}, append([]string{"contract", "advise"}, c.args...)...)
	}
}
