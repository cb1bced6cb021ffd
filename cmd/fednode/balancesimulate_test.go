package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The JSON of a run is what scripts rely on.
func TestBalanceSimulateJSON(t *testing.T) {
	type run struct {
		Migrator string
		Rounds   []struct {
			Usage []float64
			Moved []struct {
				From, To int
				Usage    float64
				Why      string
			}
		}
		RestAfter *int `json:"rest_after"`
	}
	var one run
	text := ok(t, "balance", "simulate", "--migrator", "threshold", "--usage", "90,10", "--json")
	require.Contains(t, text, `"moved": []`, "a round without moves has a list of none")
	okJSON(t, &one, "balance", "simulate", "--migrator", "threshold", "--usage", "90,10")
	require.Equal(t, "threshold", one.Migrator)
	require.Len(t, one.Rounds, 10)
	require.Equal(t, []float64{60, 40}, one.Rounds[0].Usage)
	require.Equal(t, []float64{60, 40}, one.Rounds[9].Usage)
	require.Len(t, one.Rounds[0].Moved, 6)
	require.Empty(t, one.Rounds[1].Moved)
	m := one.Rounds[0].Moved[0]
	require.Equal(t, []float64{0, 1, 5}, []float64{float64(m.From), float64(m.To), m.Usage})
	require.Contains(t, m.Why, "usage is above the average 50 + threshold 10")
	require.Equal(t, 1, *one.RestAfter)
	var many struct{ Runs []run }
	okJSON(t, &many, "balance", "simulate", "--migrator", "all", "--usage", "55,45,45", "--unit", "20")
	require.Len(t, many.Runs, 4)
	for _, r := range many.Runs {
		require.Zero(t, *r.RestAfter)
		require.Equal(t, []float64{55, 45, 45}, r.Rounds[9].Usage)
	}
}

// People see every round in which something changes, and what it comes to.
func TestBalanceSimulateTable(t *testing.T) {
	require.Equal(t, `round  node 0  node 1  moves
start    90 %    10 %
1        75 %    25 %      3

migrator  at rest after round  moves  range before  after  deviation before  after
transfer                    1      3          80.0   50.0              40.0   25.0
`, ok(t, "balance", "simulate", "--migrator", "transfer", "--usage", "90,10"))
	require.Contains(t, ok(t, "balance", "simulate", "--usage", "90,10,20", "--fail", "1@2", "--reasons"), "for n1 has failed: least occupied")
	require.Contains(t, ok(t, "balance", "simulate", "--usage", "50,40", "--capacity", "1,2", "--vary", "bursts:100,2,60", "--noise", "0.1", "--rounds", "50"), "an hour")
	require.Contains(t, ok(t, "balance", "simulate", "--weights", "1,0,7"), "in proportion")
}

// Random starts say how many moves there were and how many there had to be.
func TestBalanceSimulateStarts(t *testing.T) {
	var out struct {
		Starts []struct {
			Migrator          string
			Starts            int
			AtRest            int `json:"at_rest"`
			RestAfterMax      int `json:"rest_after_max"`
			Moves, Impossible int
			Least             int `json:"least_moves"`
			Before, After     struct{ Deviation float64 }
			Each              []struct{ Nodes int }
		}
	}
	okJSON(t, &out, "balance", "simulate", "--migrator", "threshold,transfer", "--starts", "12", "--nodes", "3-9")
	require.Len(t, out.Starts, 2)
	for _, s := range out.Starts {
		require.Equal(t, 12, s.Starts)
		require.Equal(t, 12, s.AtRest)
		require.LessOrEqual(t, s.RestAfterMax, 1)
		require.Equal(t, s.Least, s.Moves)
		require.Less(t, s.After.Deviation, s.Before.Deviation)
		require.Len(t, s.Each, 12)
	}
}

// Pages and plots need nothing from elsewhere, and have figures only.
func TestBalanceSimulatePage(t *testing.T) {
	dir := t.TempDir()
	for name, args := range map[string][]string{
		"run":    {"--usage", "90,10,50,20,30,60,70", "--migrator", "all"},
		"vary":   {"--usage", "90,10", "--vary", "walk:0.05", "--rounds", "600"},
		"starts": {"--starts", "5", "--nodes", "3-6"},
	} {
		path := filepath.Join(dir, name+".html")
		ok(t, append([]string{"balance", "simulate", "--html", path, "--plots", filepath.Join(dir, name)}, args...)...)
		plots, err := filepath.Glob(filepath.Join(dir, name, "*.svg"))
		require.NoError(t, err)
		require.NotEmpty(t, plots)
		for _, path := range append(plots, path) {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			for _, bad := range []string{"<script", "https://", "NaN", "Inf"} {
				require.NotContains(t, string(text), bad, path)
			}
			require.Contains(t, string(text), "<polyline")
		}
	}
}

// Everything that is wrong is said at once, and nothing is written.
func TestBalanceSimulateRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"":                                      "one of --usage 90,10, --starts 50 and --weights 1,2,7|",
		"--migrator sideways --gain -1":         "one of threshold, overload, uniform, transfer|gain -1|one of --usage",
		"--usage 90":                            "one node: there is nowhere to move anything",
		"--usage 90,NaN,-3,Inf --capacity 1,0":  "usage NaN of node 1|usage -3 of node 2|usage +Inf of node 3|2 capacities for 4 nodes|capacity 0 of node 1",
		"--usage 2000,10":                       "usage 2000 of node 0: from 0 to 1000 %",
		"--usage 90,10 --unit 150":              "unit of 150: it is larger than the largest node",
		"--usage 90,10 --unit 0 --rounds 0":     "unit of 0|0 rounds",
		"--usage 90,10 --resource-weight 0":     "all weights of resources are 0",
		"--usage 90,10 --unreachable 2":         "unreachable node 2",
		"--usage 90,10 --fail 0@3x,1@99":        "--fail 0@3x: a node and a round|failure in round 99",
		"--usage 90,10 --vary walk:1x":          "--vary walk:1x: walk:STEP",
		"--usage 90,10 --vary bursts:1,NaN,1":   "factor of a burst NaN",
		"--usage 90,10 --period 0s":             "--period 0s",
		"--usage 90,10 --migrator ,":            "migrator \"\"",
		"--starts 5 --nodes 1-x --unit 1,2":     "--nodes 1-x|--unit: one size",
		"--starts 5 --vary walk:1 --nodes 9-3":  "--vary goes with --usage|9 to 3 nodes",
		"--weights 0,0":                         "all weights are 0",
		"--weights -1,NaN --draws 0 --html x":   "weight -1 of node 0|weight NaN of node 1|0 draws|--html and --plots",
		"--usage 90,10 --weights 1,2 --unit 20": "one of --usage",
		"--usage 90,x":                          `--usage: expected a number, got "x"`,
		"--rounds 1.5":                          `--rounds: expected a whole number, got "1.5"`,
		"--seed -1":                             `--seed: expected a whole number from 0 on, got "-1"`,
		"--starts 99999999999999999999":         "--starts: expected a smaller number",
		"--reasons=so":                          `--reasons: expected true or false, got "so"`,
	} {
		refuses(t, exitWrong, strings.Split(want, "|"), append([]string{"balance", "simulate"}, strings.Fields(args)...)...)
	}
	require.NoFileExists(t, "x")
}
