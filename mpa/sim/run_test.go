package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/contracts"
	"fednode/mpa"
)

// judge checks every move of a run as it is made.
type judge struct {
	Silent
	t        require.TestingT
	cfg      Config
	price    float64
	moving   float64
	partners map[[2]int]bool
	returned map[string]int
	moves    []Move
}

func judged(t require.TestingT, cfg Config) *judge {
	cost, err := cfg.Cost.function()
	require.NoError(t, err)
	price := cost.Slope(cfg.Full)
	return &judge{t: t, cfg: cfg, price: price, moving: cfg.Moving * price, partners: make(map[[2]int]bool), returned: make(map[string]int)}
}

func (j *judge) Began(b Beginning) {
	for _, e := range b.Edges {
		j.partners[[2]int{e.A, e.B}], j.partners[[2]int{e.B, e.A}] = true, true
	}
}

func (j *judge) Moved(m Move) {
	j.moves = append(j.moves, m)
	if m.Return {
		j.returned[fmt.Sprint(m.From, m.To, m.Task)]++
		return
	}
	require.True(j.t, j.partners[[2]int{m.From, m.To}], "a move without a contract: %+v", m)
	saves, costs := (m.Giver.With-m.Giver.Without)/m.Giver.Load, (m.Taker.With-m.Taker.Without)/m.Taker.Load
	require.Greater(j.t, saves, float64(m.Price)+j.moving, "the giver does not gain: %+v", m)
	require.Less(j.t, costs, float64(m.Price), "the taker does not gain: %+v", m)
	require.Greater(j.t, saves-costs, j.moving, "the sum of costs falls by less than the move costs: %+v", m)
	low, high := math.Round((1-j.cfg.Range)*j.price), math.Round(j.price)
	require.True(j.t, float64(m.Price) >= low && float64(m.Price) <= high, "price %s outside %g to %g", m.Price, low, high)
}

// anyRun draws a small system.
func anyRun(t *rapid.T) Config {
	cfg := Default()
	cfg.Nodes = rapid.IntRange(1, 40).Draw(t, "nodes")
	cfg.Graph = Graph(rapid.IntRange(0, int(ScaleFree)).Draw(t, "graph"))
	cfg.Contracts = rapid.IntRange(0, min(6, cfg.Nodes-1)).Draw(t, "contracts")
	cfg.Load = rapid.Float64Range(0.05, 1.5).Draw(t, "load")
	cfg.Loads = Loads(rapid.IntRange(0, int(Skewed)).Draw(t, "loads"))
	cfg.TaskMin = rapid.Float64Range(0.005, 0.05).Draw(t, "smallest")
	cfg.TaskMax = cfg.TaskMin * rapid.Float64Range(1, 5).Draw(t, "largest")
	cfg.Range = rapid.SampledFrom([]float64{0, 0.05, 0.1, 0.2, 1}).Draw(t, "range")
	cfg.Cost = Cost{Kind: CostKind(rapid.IntRange(0, 2).Draw(t, "cost")), Exponent: rapid.Float64Range(1.5, 6).Draw(t, "exponent"),
		Points: []mpa.Point{{Load: 0}, {Load: 0.4, Cost: 1e6}, {Load: 0.7, Cost: 3e6}, {Load: 0.8, Cost: 9e6}, {Load: 1, Cost: 60e6}}}
	cfg.Loss = rapid.SampledFrom([]float64{0, 0, 0.1, 0.4}).Draw(t, "loss")
	cfg.Migration = rapid.Int64Range(0, 3*second).Draw(t, "migration")
	cfg.Duration = 1000 * second
	if cfg.Loss > 0 {
		cfg.Duration = 300 * second
	}
	cfg.Seed = rapid.Uint64().Draw(t, "seed")
	return cfg
}

// In any system, under loss too: every move gains for both, the sum of costs falls by more than moving costs, nothing
// moves without a contract, and a load that stays the same comes to rest with no load lost.
func TestEveryMoveGains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyRun(t)
		j := judged(t, cfg)
		r, err := Run(cfg, j)
		require.NoError(t, err)
		if cfg.Loss == 0 { // with loss rest takes longer: a giver whose commits are lost is refused for a while
			require.Less(t, float64(r.LastMove), 0.8*float64(cfg.Duration), "no rest: %d moves", r.Moves)
		}
		require.LessOrEqual(t, r.Social.Final, r.Social.Initial*(1+1e-9))
		require.GreaterOrEqual(t, r.Social.Final, r.Social.Optimum*(1-1e-9))
		for what, n := range j.returned {
			require.LessOrEqual(t, n, 1, "returned more than once though nothing has changed: %s", what)
		}
	})
}

// The same seed makes the same run.
func TestRunIsReproducible(t *testing.T) {
	cfg := Default()
	cfg.Nodes, cfg.Contracts, cfg.Duration, cfg.Loss = 120, 4, 60*second, 0.1
	cfg.Vary = Variation{Kind: Walk, Step: 0.02, Noise: 1}
	a, b := judged(t, cfg), judged(t, cfg)
	first, err := Run(cfg, a)
	require.NoError(t, err)
	again, err := Run(cfg, b)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Equal(t, a.moves, b.moves)
	cfg.Seed++
	other, err := Run(cfg, Silent{})
	require.NoError(t, err)
	require.NotEqual(t, first.Moves, other.Moves)
}

// ledger follows where every task is, from the moves alone.
type ledger struct {
	*judge
	at map[mpa.TaskID]int
}

func (l *ledger) Moved(m Move) {
	from, moved := l.at[m.Task]
	if !moved {
		var owner int
		_, err := fmt.Sscanf(string(m.Task.Owner), "n%d", &owner)
		require.NoError(l.t, err)
		from = owner
	}
	require.Equal(l.t, from, m.From, "a task left where it was not: %+v", m)
	l.at[m.Task] = m.To
}

// No task is ever in two places or in none, whatever is lost, while loads and the network do what they want.
func TestTasksAreNeverLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := anyRun(t)
		cfg.Duration = 60 * second
		cfg.Vary = Variation{Kind: Walk, Step: 0.05}
		l := &ledger{judged(t, cfg), make(map[mpa.TaskID]int)}
		w, err := newWorld(&cfg, l)
		require.NoError(t, err)
		count := func() (n int) {
			for _, m := range w.nodes {
				n += m.Tasks()
			}
			return n
		}
		before := count()
		for n := range w.nodes {
			w.act(int32(n))
		}
		for !w.queue.empty() && w.queue.list[0].at <= w.end {
			require.NoError(t, w.step())
		}
		require.Equal(t, before, count())
		for id, at := range l.at {
			found := false
			w.nodes[at].Carried(func(have mpa.TaskID, _ float64, _ []mpa.Party, _ contracts.Price) { found = found || have == id })
			require.True(t, found, "task %v is not at node %d", id, at)
		}
	})
}
