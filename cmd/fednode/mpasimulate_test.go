package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The JSON of a run is what scripts rely on.
func TestMPASimulateJSON(t *testing.T) {
	var sum struct {
		Nodes     int     `json:"nodes"`
		TotalLoad float64 `json:"total_load"`
		Capacity  float64 `json:"capacity"`
		Initial   struct{ Excess float64 }
		Final     struct {
			Overloaded int
			Excess     float64
			Acceptable bool
		}
		Moves, Messages int
		LastMove        float64                                   `json:"last_move_s"`
		Social          struct{ Initial, Final, Optimum float64 } `json:"social_cost"`
		Seed            uint64
	}
	okJSON(t, &sum, "mpa", "simulate", "--nodes", "60", "--contracts", "5")
	require.Equal(t, 60, sum.Nodes)
	require.InDelta(t, 0.8*60*0.8, sum.TotalLoad, 0.3)
	require.InDelta(t, 48, sum.Capacity, 1e-9)
	require.Positive(t, sum.Initial.Excess)
	require.True(t, sum.Final.Acceptable)
	require.Zero(t, sum.Final.Overloaded)
	require.Greater(t, sum.Social.Initial, sum.Social.Final)
	require.GreaterOrEqual(t, sum.Social.Final, sum.Social.Optimum)
	require.EqualValues(t, 1, sum.Seed)
}

// A trace has every node and contract before the moves, and as many moves as the run says.
func TestMPASimulateTrace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "moves.jsonl")
	var sum struct{ Moves int }
	okJSON(t, &sum, "mpa", "simulate", "--nodes", "30", "--contracts", "3", "--trace", path)
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	kinds := make(map[string]int)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct {
			Kind           string
			Load, Price    float64
			From, To       int
			CostFromBefore float64 `json:"cost_from_before"`
			CostFromAfter  float64 `json:"cost_from_after"`
			CostToBefore   float64 `json:"cost_to_before"`
			CostToAfter    float64 `json:"cost_to_after"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		if line.Kind == "node" {
			require.Zero(t, kinds["move"])
		}
		if line.Kind == "move" {
			require.Greater(t, line.CostFromBefore-line.CostFromAfter, line.Price*line.Load)
			require.Less(t, line.CostToAfter-line.CostToBefore, line.Price*line.Load)
		}
		kinds[line.Kind]++
	}
	require.Equal(t, 30, kinds["node"])
	require.GreaterOrEqual(t, kinds["contract"], 45)
	require.Equal(t, sum.Moves, kinds["move"]+kinds["return"])
}

// The page needs nothing from elsewhere.
func TestMPASimulatePage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "page.html")
	out := ok(t, "mpa", "simulate", "--nodes", "20", "--contracts", "1,3", "--price-range", "0,0.1", "--html", path)
	require.Equal(t, 5, strings.Count(out, "\n"), out)
	page, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, bad := range []string{"<script", "http://", "https://", "NaN", "Inf"} {
		require.NotContains(t, string(page), bad)
	}
	require.Contains(t, string(page), "Excess by contracts and load: random")
	require.Contains(t, string(page), "range 10 %")
}

// Everything that is wrong is said at once, and nothing is written.
func TestMPASimulateRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"--nodes", "0", "--load", "-1", "--cost", "x"}, []string{"--cost x", "0 nodes", "load -1"}},
		{[]string{"--price-range", "-0.1,2"}, []string{"price range -0.1", "price range 2"}},
		{[]string{"--task-size", "0.02-0.01"}, []string{"the smallest first"}},
		{[]string{"--task-size", "11"}, []string{"up to 10"}},
		{[]string{"--graph", "mesh"}, []string{`graph "mesh"`}},
		{[]string{"--graph", "file:" + file("loop", "0,0\n")}, []string{"node 0 with itself"}},
		{[]string{"--graph", "file:" + file("twice", "a,b\n0,1\n1,0\n")}, []string{"second one between nodes 1 and 0"}},
		{[]string{"--graph", "file:" + file("prices", "0,1,2,1\n")}, []string{"prices 2 to 1"}},
		{[]string{"--graph", "file:" + file("text", "0,1\nx,2\n")}, []string{"text:2:", "is not a number"}},
		{[]string{"--loads", "file:" + file("few", "1\n2\n")}, []string{"2 loads for 995 nodes"}},
		{[]string{"--cost", "file:" + file("bent", "0,0\n1,5\n2,6\n")}, []string{"not convex"}},
		{[]string{"--cost", "file:" + file("steep", "0,0\n1,1e300\n")}, []string{"above the highest price"}},
		{[]string{"--graph", "file:/dev/zero"}, []string{"/dev/zero: a line of more than 4096 bytes"}},
		{[]string{"--loads", "file:" + file("long", "1\n"+strings.Repeat("1", 1<<20))}, []string{"a line of more than 4096 bytes"}},
		{[]string{"--loads", "file:" + file("digits", strings.Repeat("x", 1000)+"1\n")}, []string{`xxx", is not a number`}},
		{[]string{"--nodes", "2", "--contracts", "1", "--loads", "file:" + file("none", "0\n0\n")}, []string{"every load is 0"}},
		{[]string{"--noise", "1e300"}, []string{"noise 1e+300"}},
		{[]string{"--vary", "bursts:1,1e300,1"}, []string{"bursts of 1e+300 times the load"}},
		{[]string{"--vary", "walk"}, []string{"walk:STEP"}},
		{[]string{"--vary", "file:" + file("vary", "0,5000,1\n")}, []string{"no node 5000"}},
		{[]string{"--loss", "1"}, []string{"loss 1"}},
		{[]string{"--duration", "-1s"}, []string{"a run of -1 s"}},
		{[]string{"--seeds", "2", "--trace", "-"}, []string{"--trace is of one run"}},
		{[]string{"--nodes", "5", "--contracts", "5"}, []string{"at most 4 are possible"}},
	} {
		refuses(t, exitWrong, c.want, append([]string{"mpa", "simulate"}, c.args...)...)
	}
}

// A comparison has three arrangements of each run, in the table, the JSON, the page and the plots.
func TestMPASimulateCompare(t *testing.T) {
	dir := t.TempDir()
	args := []string{"mpa", "simulate", "--nodes", "40", "--contracts", "4", "--load", "0.5,0.8", "--compare"}
	var doc struct {
		Runs []struct {
			Final        struct{ Excess float64 }
			Arrangements []struct {
				Name     string
				Excess   float64
				SetAside float64 `json:"set_aside"`
				Idle     float64
			}
		}
	}
	okJSON(t, &doc, append(args, "--html", filepath.Join(dir, "c.html"), "--plots", dir)...)
	require.Len(t, doc.Runs, 2)
	for _, r := range doc.Runs {
		require.Len(t, r.Arrangements, 3)
		alone, reserved, contracts := r.Arrangements[0], r.Arrangements[1], r.Arrangements[2]
		require.Equal(t, []string{"alone", "reserved", "contracts"}, []string{alone.Name, reserved.Name, contracts.Name})
		require.Less(t, reserved.Excess, alone.Excess)
		require.Less(t, contracts.Excess, reserved.Excess)
		require.Equal(t, r.Final.Excess, contracts.Excess)
		require.Positive(t, reserved.SetAside)
		require.Positive(t, reserved.Idle)
	}
	page, err := os.ReadFile(filepath.Join(dir, "c.html"))
	require.NoError(t, err)
	require.Contains(t, string(page), "Alone, reserved capacity, contracts")
	require.Contains(t, string(page), "fednode mpa simulate --compare --contracts 4 ")
	for _, name := range []string{"arrangements-4.svg", "random-contracts-of-each-node-4.svg"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
	require.Equal(t, 7, strings.Count(ok(t, args...), "\n"))
	refuses(t, exitWrong, []string{"--compare is of loads that do not vary"}, append(args, "--vary", "walk:0.1")...)
}
