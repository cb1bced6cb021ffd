package evaluate

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

// one evaluates cells as an experiment of one panel.
func one(t *testing.T, seeds int, cells ...*Cell) *Experiment {
	t.Helper()
	x := &Experiment{Key: "one", Panels: []*Panel{{Title: "one", Cells: cells}}}
	e := &Evaluation{Experiments: []*Experiment{x}, Seeds: seeds, Workers: 2}
	require.NoError(t, e.Run(t.Context()))
	return x
}

func small(pair policies) federation {
	return federation{fragments: 1, replicas: 2, policies: pair, rate: lowRate, bound: bound}
}

// A failure shorter than the hold time delays rows by its own length and makes none tentative; a longer one delays them by
// the hold time, and the rows behind it are tentative, fewer with delay than with process.
func TestFailures(t *testing.T) {
	brief := small(delayProcess).cell().cut(0, first(tuple.Second))
	process := small(bothProcess).cell().cut(0, first(6*tuple.Second))
	delay := small(delayProcess).cell().cut(0, first(6*tuple.Second))
	one(t, 2, brief, process, delay)
	for _, c := range []*Cell{brief, process, delay} {
		require.Empty(t, c.Breaches)
		require.Equal(t, 2, c.Runs)
		require.Zero(t, c.Holes+c.Unequal)
		require.Positive(t, c.Rows)
		require.Less(t, c.Normal, Micros(300*tuple.Millisecond))
		require.LessOrEqual(t, c.Normal99, c.Normal)
		require.LessOrEqual(t, c.Incremental, Micros(bound))
	}
	require.Zero(t, brief.Tentative)
	require.InDelta(t, 1.2, brief.Incremental.Seconds(), 0.5)
	require.InDelta(t, float64(holdTime(1))/1e6, delay.Incremental.Seconds(), 0.3)
	// 100 rows a second are healthy: with process about those of the 6 s, with delay those of the 6 s less the hold time.
	require.InDelta(t, 600, process.Tentative, 60)
	require.InDelta(t, 350, delay.Tentative, 60)
	require.Positive(t, delay.Corrected)
	require.Less(t, delay.Corrected, Micros(3*tuple.Second))
}

// Without failure a row waits for its bucket and the boundary that completes it, however many hops lie before the client.
func TestCalm(t *testing.T) {
	c := federation{fragments: 5, replicas: 2, policies: delayProcess, rate: lowRate, bound: bound}.cell()
	c.spec.Latency, c.spec.Jitter = 100, 50
	one(t, 2, c)
	require.Empty(t, c.Breaches)
	require.LessOrEqual(t, c.Normal, mostNormal)
	require.Zero(t, c.Tentative)
	require.Zero(t, c.Corrected)
}

// The same seeds give the same figures, whatever the number of workers.
func TestRepeats(t *testing.T) {
	run := func(workers int) []*Cell {
		x := Grid(true)[4:5] // overlap, with timelines
		for _, c := range x[0].cells() {
			c.spec.Rate = lowRate
		}
		require.NoError(t, (&Evaluation{Experiments: x, Seeds: 1, Workers: workers}).Run(t.Context()))
		return x[0].cells()
	}
	got := run(1)
	require.Equal(t, got, run(3))
	lines := 0
	for _, c := range got {
		if len(c.Timeline) > 0 {
			lines++
		}
		for i, p := range c.Timeline {
			require.LessOrEqual(t, p.Reached, p.At)
			require.True(t, i == 0 || p.At >= c.Timeline[i-1].At)
		}
	}
	require.Equal(t, 2, lines)
}

// Every experiment of the grid says what it is about, and its cells can be told apart.
func TestGrid(t *testing.T) {
	for _, quick := range []bool{true, false} {
		keys := make(map[string]bool)
		for _, x := range Grid(quick) {
			require.False(t, keys[x.Key], x.Key)
			keys[x.Key] = true
			for _, text := range []string{x.Title, x.Question, x.Setup, x.Axis} {
				require.NotEmpty(t, text, x.Key)
			}
			for _, p := range x.Panels {
				names := make(map[string]bool)
				for _, c := range p.Cells {
					require.False(t, names[c.Name()], c.Name())
					names[c.Name()] = true
					require.NoError(t, c.spec.Check())
					require.Positive(t, c.Bound)
				}
				require.NotEmpty(t, names, p.Title)
			}
		}
		for _, r := range rules() {
			require.True(t, keys[r.experiment], r.experiment)
		}
	}
}

// The whole grid names every length that it promises.
func TestGridLengths(t *testing.T) {
	var lengths []float64
	for _, c := range Grid(false)[0].Panels[0].Cells {
		if c.Series == bothDelay.String() {
			lengths = append(lengths, c.X)
		}
	}
	require.Equal(t, []float64{2, 3, 4, 6, 8, 10, 12, 14, 15, 30, 45, 60}, lengths)
}

// Targets say missed where a figure is beyond them, and a run that breaks a promise shows.
func TestTargets(t *testing.T) {
	x := &Experiment{Key: "depth", Panels: []*Panel{{Cells: []*Cell{
		{Series: "a", X: 1, Bound: Micros(bound), Figures: Figures{Runs: 1, Incremental: 2_500_000, Settled: 1_000_000}},
		{Series: "a", X: 2, Bound: Micros(bound), Figures: Figures{Runs: 1, Incremental: 3_100_000, Holes: 2, Unequal: 1, Breaches: []string{"seed 1: it broke"}}},
	}}}}
	met := make(map[string]Target)
	for _, g := range Targets([]*Experiment{x}) {
		met[g.Figure] = g
	}
	require.Len(t, met, 5)
	require.False(t, met["a source away for 15 s, chains of 1 to 8: longest incremental delay"].Met)
	require.True(t, met["a source away for 15 s, chains of 1 to 8: corrected after"].Met)
	require.Equal(t, "2 rows in 2 runs", met["a hole in what the client holds"].Measured)
	require.Equal(t, "1 of 2 runs", met["stable results are those of a run without failures"].Measured)
	require.False(t, met["incremental delay of new rows within X"].Met)
	d := Document{Experiments: []*Experiment{x}}
	require.Equal(t, []string{"depth, a, 2: seed 1: it broke"}, d.Broken())
}

// Times are seconds in JSON, and figures stand beside what they are of.
func TestJSON(t *testing.T) {
	c := &Cell{Series: "a", X: 2, Bound: Micros(bound), Figures: Figures{Runs: 1, Incremental: 1_234_567, Tentative: 7}}
	b, err := json.Marshal(c)
	require.NoError(t, err)
	var m map[string]any
	require.NoError(t, json.Unmarshal(b, &m))
	require.Equal(t, 1.234567, m["incremental_delay"])
	require.Equal(t, 3.0, m["bound"])
	require.Equal(t, 7.0, m["tentative_rows"])
}

// An evaluation that is told to stop does, and says why.
func TestStopped(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	e := &Evaluation{Experiments: Grid(true), Seeds: 1, Workers: 1, Done: func(int, int) { stop(enough) }}
	require.ErrorIs(t, e.Run(ctx), enough)
	require.Empty(t, Grid(true)[0].Panels[0].Cells[0].Runs)
}

// A node alone that undoes before it redoes gives fewer tentative rows than one that keeps its fork, and the same stable ones.
func TestUndoRedo(t *testing.T) {
	fork, undo := redoCell(topology.RedoFork, 1, 1500, 10), redoCell(topology.RedoUndo, 1, 1500, 10)
	one(t, 1, fork, undo)
	for _, c := range []*Cell{fork, undo} {
		require.Empty(t, c.Breaches)
		require.Zero(t, c.Holes+c.Unequal)
		require.Positive(t, c.Corrected)
	}
	require.Less(t, undo.Tentative, fork.Tentative)
	require.LessOrEqual(t, undo.Corrected, fork.Corrected)
}

// Where the redo takes longer than new rows may be held they come within the bound all the same, though a queue of its results lies
// in front of them, at every node of a chain one behind the other.
func TestUndoThatIsLate(t *testing.T) {
	var cells []*Cell
	for _, nodes := range []int{1, 2, 3, 4} {
		c := redoCell(topology.RedoUndo, 1, loadedRate, 15).at(float64(nodes))
		c.spec.Fragments = nodes
		cells = append(cells, c)
	}
	one(t, 1, cells...)
	for _, c := range cells {
		nodes := int(c.X)
		require.Empty(t, c.Breaches)
		require.Zero(t, c.Holes+c.Unequal)
		require.Greater(t, c.Incremental, Micros(holdTime(int64(nodes))))
		require.LessOrEqual(t, c.Incremental, Micros(bound))
	}
}

// What corrects nothing works less, the more the longer the failure, is stable again soon all the same, and lacks what was missed.
func TestBestEffort(t *testing.T) {
	f := federation{fragments: 1, replicas: 2}
	corrects, leaves := f.bestEffortCell(topology.Eventual, 20), f.bestEffortCell(topology.BestEffort, 20)
	for _, c := range []*Cell{corrects, leaves} {
		c.spec.Rate = 200
	}
	one(t, 2, corrects, leaves)
	for _, c := range []*Cell{corrects, leaves} {
		require.Empty(t, c.Breaches)
		require.Zero(t, c.Holes+c.Unequal)
		require.LessOrEqual(t, c.Incremental, Micros(bound))
	}
	require.Less(t, leaves.Worked, corrects.Worked*9/10)
	require.Less(t, leaves.Rows, corrects.Rows*7/10)
	require.Less(t, leaves.Corrected, Micros(3*tuple.Second))
}
