package sim

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// question is of a participant that is at a third of its speed, and at 1.5 times of it for a fifth of the time.
func question() Question {
	cfg := Default()
	cfg.Nodes = 40
	return Question{Run: cfg, Most: 6, Moments: 2, Readings: []Reading{{0.33, 4}, {1.5, 1}}}
}

// Each further contract lowers what is left above the level; with an upkeep, there is one that does not pay any more.
func TestAdvise(t *testing.T) {
	q := question()
	q.Upkeep, q.Moments = 0.05, 6
	a, err := Advise(q, Silent{})
	require.NoError(t, err)
	require.Len(t, a.Counts, 7)
	alone := a.Counts[0]
	require.InDelta(t, 0.2, alone.Probability, 0.12)
	require.InDelta(t, (1.5-0.8)*alone.Probability, alone.Overload, 0.02)
	require.Less(t, a.Counts[2].Overload, alone.Overload/2)
	require.Less(t, a.Counts[6].Probability, 0.02)
	require.Greater(t, a.Best, 0)
	require.Less(t, a.Best, 6)
	require.Positive(t, a.Counts[a.Best].Worth)
	require.Negative(t, a.Counts[6].Worth)
	require.InDeltaSlice(t, []float64{0.048, 0.134, 0.21}, a.Ranges, 0.006)
	again, err := Advise(q, Silent{})
	require.NoError(t, err)
	require.Equal(t, a, again)
}

// Whoever peaks at the same time as all others is not helped by contracts.
func TestAdvicePeaksTogether(t *testing.T) {
	q := question()
	q.Most, q.Together, q.Moments = 3, 1, 20
	a, err := Advise(q, Silent{})
	require.NoError(t, err)
	require.Positive(t, a.Counts[0].Probability)
	require.InDelta(t, a.Counts[0].Overload, a.Counts[3].Overload, 1e-9)
	require.Zero(t, a.Best)
}

func TestAdviseRefuses(t *testing.T) {
	for says, change := range map[string]func(*Question){
		"there are no loads":   func(q *Question) { q.Readings = nil },
		"all loads are 0":      func(q *Question) { q.Readings = []Reading{{0, 1}} },
		"load 1 is NaN":        func(q *Question) { q.Readings[0].Load = math.NaN() },
		"load 2 is -1":         func(q *Question) { q.Readings[1].Load = -1 },
		"load 1 is 11":         func(q *Question) { q.Readings[0].Load = 11 },
		"load 1 holds for NaN": func(q *Question) { q.Readings[0].Weight = math.NaN() },
		"upkeep +Inf":          func(q *Question) { q.Upkeep = math.Inf(1) },
		"41 participants":      func(q *Question) { q.Run.Nodes = 41 },
		"up to 40 contracts":   func(q *Question) { q.Most = 40 },
		"0 moments":            func(q *Question) { q.Moments = 0 },
		"a share of 2":         func(q *Question) { q.Together = 2 },
		"price range 2":        func(q *Question) { q.Run.Range = 2 },
	} {
		q := question()
		change(&q)
		_, err := Advise(q, Silent{})
		require.ErrorContains(t, err, says)
	}
}

// Every participant has exactly as many contracts as asked for.
func TestRegular(t *testing.T) {
	for n := range 20 {
		g := newGraphBuilder(40)
		for _, e := range regular(40, n, rand.New(rand.NewPCG(1, uint64(n)))) {
			require.True(t, g.join(e.A, e.B))
		}
		for _, d := range g.degree {
			require.Equal(t, n, d)
		}
	}
}
