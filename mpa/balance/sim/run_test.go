package sim

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/mpa/balance"
)

func settings(m balance.Migrator) balance.Config {
	cfg := balance.Default()
	cfg.Migrator = m
	return cfg
}

// The published cases: at rest after the first round, at exactly these figures, with the least possible moves.
func TestPublishedCases(t *testing.T) {
	for _, c := range []struct {
		migrator    balance.Migrator
		usage, want []float64
		moves       int
	}{
		{balance.Threshold, []float64{90, 10}, []float64{60, 40}, 6},
		{balance.Uniform, []float64{90, 10}, []float64{60, 40}, 6},
		{balance.Overload, []float64{90, 10}, []float64{80, 20}, 2},
		{balance.Transfer, []float64{90, 10}, []float64{75, 25}, 3},
		{balance.Threshold, []float64{95, 80, 60, 20, 5}, []float64{60, 60, 60, 40, 40}, 11},
		{balance.Uniform, []float64{95, 80, 60, 20, 5}, []float64{60, 60, 60, 40, 40}, 11},
		{balance.Overload, []float64{95, 80, 60, 20, 5}, []float64{80, 80, 60, 20, 20}, 3},
		{balance.Transfer, []float64{95, 80, 60, 20, 5}, []float64{70, 70, 60, 30, 30}, 7},
	} {
		t.Run(fmt.Sprintf("%s %v", c.migrator, c.usage), func(t *testing.T) {
			r, err := Run(Config{Usage: c.usage, Units: []float64{5}, Rounds: 30, Balance: settings(c.migrator)}, nil)
			require.NoError(t, err)
			require.Equal(t, 1, r.RestAfter)
			require.Equal(t, c.want, r.Rounds[0].Usage)
			require.Equal(t, c.want, r.Final())
			require.Equal(t, c.moves, r.Moves)
			loads := make([]int, len(c.usage))
			for i, v := range c.usage {
				loads[i] = int(v / 5)
			}
			cfg := settings(c.migrator)
			least, ok := LeastMoves(loads, 5, &cfg)
			require.True(t, ok)
			require.Equal(t, least, r.Moves)
		})
	}
}

// A unit larger than the gap never moves, however tight the trigger.
func TestUnitLargerThanGap(t *testing.T) {
	for _, m := range balance.Migrators() {
		cfg := settings(m)
		cfg.Threshold, cfg.Limit, cfg.Difference, cfg.Target = 1, 50, 1, 1
		r, err := Run(Config{Usage: []float64{55, 45, 45}, Units: []float64{20}, Rounds: 20, Balance: cfg}, nil)
		require.NoError(t, err)
		require.Zero(t, r.Moves, m)
		require.Equal(t, []float64{55, 45, 45}, r.Final())
		require.Zero(t, r.RestAfter)
	}
}

// A node that does not report is no target and does not count in the average.
func TestUnreachable(t *testing.T) {
	r, err := Run(Config{Usage: []float64{90, 10, 0}, Units: []float64{5}, Rounds: 5, Unreachable: []int{2}, Balance: settings(balance.Threshold)}, nil)
	require.NoError(t, err)
	require.Equal(t, []float64{60, 40, 0}, r.Final())
}

// A failed node's units are elsewhere before the round's own moves.
func TestFailure(t *testing.T) {
	r, err := Run(Config{Usage: []float64{50, 40, 30}, Units: []float64{5}, Rounds: 8, Fail: []Failure{{Node: 0, Round: 3}}, Balance: settings(balance.Threshold)}, nil)
	require.NoError(t, err)
	require.Empty(t, r.Rounds[1].Moved)
	require.Len(t, r.Rounds[2].Moved, 10)
	require.Equal(t, []float64{0, 60, 60}, r.Rounds[2].Usage)
	require.Zero(t, r.Moves)
	require.Equal(t, 3, r.RestAfter)
	require.True(t, r.Rounds[2].Moved[0].Failed)
	require.Contains(t, r.Rounds[2].Moved[0].Why, "n0 has failed: least occupied")
}

// Nodes of several sizes come to the same percentage, not to the same load.
func TestCapacities(t *testing.T) {
	r, err := Run(Config{Usage: []float64{90, 10}, Capacity: []float64{1, 4}, Units: []float64{5}, Rounds: 5, Balance: settings(balance.Threshold)}, nil)
	require.NoError(t, err)
	require.Equal(t, 1, r.RestAfter)
	require.InDelta(t, 130, r.Final()[0]+4*r.Final()[1], 1e-9)
	require.LessOrEqual(t, r.Final()[0], (r.Final()[0]+r.Final()[1])/2+10)
}

// Fifty random starts: every migrator is at rest after a round, with no more moves than there have to be.
func TestRandomStarts(t *testing.T) {
	for _, m := range balance.Migrators() {
		s := Starts{Count: 50, MinNodes: 3, MaxNodes: 50, Unit: 5, Rounds: 10, Seed: 1}
		list, err := s.Run(settings(m), nil)
		require.NoError(t, err)
		require.Len(t, list, 50)
		for i, one := range list {
			require.GreaterOrEqual(t, one.RestAfter, 0, "%s, start %d", m, i)
			require.LessOrEqual(t, one.RestAfter, 1, "%s, start %d", m, i)
			if one.Possible {
				require.Equal(t, one.Least, one.Moves, "%s, start %d of %d nodes", m, i, one.Nodes)
			}
			require.LessOrEqual(t, one.After.Deviation, one.Before.Deviation+1e-9)
		}
	}
}

// The same seed gives the same run, and moves stay few while loads vary.
func TestVaries(t *testing.T) {
	for _, m := range balance.Migrators() {
		cfg := Config{Usage: []float64{70, 60, 50, 40, 30}, Units: []float64{5}, Rounds: 720, Vary: Variation{Walk: 0.02}, Balance: settings(m), Seed: 7}
		a, err := Run(cfg, nil)
		require.NoError(t, err)
		b, err := Run(cfg, nil)
		require.NoError(t, err)
		require.Equal(t, a, b)
		balanced, still := a.Mean()
		t.Logf("%s: %d moves in %d rounds; deviation %.1f, unmoved %.1f", m, a.Moves, cfg.Rounds, balanced.Deviation, still.Deviation)
		require.Less(t, a.Moves, 720)
	}
}

// Weights 1, 2 and 7 over 10,000 draws: chi-square below its 99.9 % quantile, and weight 0 never.
func TestDraws(t *testing.T) {
	for seed := range uint64(5) {
		d, err := Draw([]float64{1, 2, 0, 7}, 10_000, seed)
		require.NoError(t, err)
		require.Zero(t, d.Chosen[2])
		require.Equal(t, 2, d.Degrees)
		require.Less(t, d.ChiSquare, 13.8, "%v", d.Chosen)
	}
	// so small that u^(1/w) would be 0 for every node
	d, err := Draw([]float64{1e-9, 2e-9, 7e-9}, 10_000, 1)
	require.NoError(t, err)
	require.Less(t, d.ChiSquare, 13.8, "%v", d.Chosen)
}
