package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The published optima: T within 0.03 s, where the utilization is flat, and p to four digits.
func TestPublishedOptima(t *testing.T) {
	for _, c := range []struct {
		n           int
		hop         Seconds
		least, most float64
		p           float64
	}{
		{1, 0, 271.67, 271.67, 0.8737},
		{5, 0.5, 271.67, 271.69, 0.8737},
		{50, 0.5, 271.69, 271.6934, 0.8733},
		{500, 0.5, 271.92, 271.9213, 0.8691},
	} {
		p, err := Optimise(published(c.n, c.hop), Fixed{})
		require.NoError(t, err)
		require.GreaterOrEqual(t, float64(p.Interval), c.least-0.03, "n = %d", c.n)
		require.LessOrEqual(t, float64(p.Interval), c.most+0.03, "n = %d", c.n)
		require.InDelta(t, c.p, p.Probabilities[0], 0.00005, "n = %d", c.n)
		require.True(t, p.Valid())
		// The published point is as good, to 0.001 and far better.
		m, err := NewModel(published(c.n, c.hop))
		require.NoError(t, err)
		u := m.At(Schedule{Interval: Seconds(c.most), Probabilities: []float64{c.p, 1 - c.p}}).Utilization
		require.InDelta(t, u, p.Utilization, 1e-7)
		require.GreaterOrEqual(t, p.Utilization, u)
	}
}

// The optimum is one: by the conditions of Kuhn and Tucker, and no schedule drawn at random is better, nor one near it.
func TestNothingIsBetterThanThePlan(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSystem(r)
		for i := range s.Levels {
			if i < len(s.Levels)-1 && rapid.IntRange(0, 4).Draw(r, "still") == 0 {
				s.Levels[i].Rate = 0
			}
		}
		p, err := Optimise(s, Fixed{})
		if err != nil {
			require.ErrorAs(t, err, new(*KeepUpError))
			return
		}
		require.LessOrEqual(t, p.Gap, Tolerance)
		require.NoError(t, p.Check(&s))
		m, err := NewModel(s)
		require.NoError(t, err)
		for range 20 {
			c := drawSchedule(r, s)
			if u := m.At(c).Utilization; !math.IsNaN(u) {
				require.LessOrEqual(t, u, p.Utilization*(1+1e-9))
			}
			// between it and the plan
			w := rapid.Float64Range(0, 0.05).Draw(r, "towards")
			mixed := Schedule{Interval: p.Interval + Seconds(w)*(c.Interval-p.Interval)}
			for l := range c.Probabilities {
				mixed.Probabilities = append(mixed.Probabilities, p.Probabilities[l]+w*(c.Probabilities[l]-p.Probabilities[l]))
			}
			if u := m.At(mixed).Utilization; !math.IsNaN(u) {
				require.LessOrEqual(t, u, p.Utilization*(1+1e-9))
			}
		}
		for _, first := range []func(System) (Schedule, error){Approximate, SingleLevel} {
			c, err := first(s)
			require.NoError(t, err)
			require.NoError(t, c.Check(&s))
			if u := m.At(c).Utilization; !math.IsNaN(u) {
				require.LessOrEqual(t, u, p.Utilization*(1+1e-9))
			}
		}
	})
}

// A grid over T and p finds the same, and never more.
func TestGridFindsTheSame(t *testing.T) {
	s := published(50, 0.5)
	p, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	m, err := NewModel(s)
	require.NoError(t, err)
	best, at := 0.0, Schedule{}
	for T := 100.0; T < 600; T += 0.5 {
		for p1 := 0.5; p1 < 1; p1 += 0.001 {
			c := Schedule{Interval: Seconds(T), Probabilities: []float64{p1, 1 - p1}}
			if u := m.At(c).Utilization; u > best {
				best, at = u, c
			}
		}
	}
	require.InDelta(t, float64(p.Interval), float64(at.Interval), 0.5)
	require.InDelta(t, p.Probabilities[0], at.Probabilities[0], 0.001)
	require.InDelta(t, p.Utilization, best, 1e-7)
	require.GreaterOrEqual(t, p.Utilization, best)
}

// What is given stays, and the rest is the best for it.
func TestOptimiseTheRest(t *testing.T) {
	s := published(1, 0)
	whole, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	byT, err := Optimise(s, Fixed{Interval: 200})
	require.NoError(t, err)
	require.Equal(t, Seconds(200), byT.Interval)
	require.Greater(t, byT.Probabilities[0], whole.Probabilities[0]) // shorter intervals: fewer of them need the dear level
	byP, err := Optimise(s, Fixed{Probabilities: []float64{0.5, 0.5}})
	require.NoError(t, err)
	require.Equal(t, []float64{0.5, 0.5}, byP.Probabilities)
	require.Greater(t, byP.Interval, whole.Interval) // dearer checkpoints: fewer of them
	require.LessOrEqual(t, byT.Gap, Tolerance)
	require.LessOrEqual(t, byP.Gap, Tolerance)
	both, err := Optimise(s, Fixed{Interval: 200, Probabilities: []float64{0.5, 0.5}})
	require.NoError(t, err)
	m, err := NewModel(s)
	require.NoError(t, err)
	require.Equal(t, m.At(both.Schedule), both.Point)
	for _, p := range []Plan{byT, byP, both} {
		require.Less(t, p.Utilization, whole.Utilization)
	}
	again, err := Optimise(s, Fixed{Probabilities: whole.Probabilities})
	require.NoError(t, err)
	require.InDelta(t, float64(whole.Interval), float64(again.Interval), 1e-3)
}

// More levels leave more time, if they are worth it; a level that is not is not drawn.
func TestThreeAndFourLevels(t *testing.T) {
	l := []Level{{PerDay(20), 10, 10}, {PerDay(5), 20, 20}, {PerDay(0.1), 100, 100}, {PerDay(0.01), 500, 1000}}
	three, err := Optimise(System{Levels: l[:3]}, Fixed{})
	require.NoError(t, err)
	// Without the second level its failures need the third.
	two, err := Optimise(System{Levels: []Level{l[0], {l[1].Rate + l[2].Rate, l[2].Cost, l[2].Restart}}}, Fixed{})
	require.NoError(t, err)
	require.Greater(t, three.Utilization, two.Utilization+0.02)
	four, err := Optimise(System{Levels: l}, Fixed{})
	require.NoError(t, err)
	require.Equal(t, Seconds(500), four.Interval) // it holds a checkpoint of the fourth
	require.Zero(t, four.Probabilities[0])
	require.LessOrEqual(t, four.Gap, Tolerance)
	single, err := Optimise(System{Levels: l[1:2]}, Fixed{})
	require.NoError(t, err)
	exact, err := SingleLevel(System{Levels: l[1:2]})
	require.NoError(t, err)
	require.InEpsilon(t, float64(exact.Interval), float64(single.Interval), 1e-5)
	require.Equal(t, []float64{1}, single.Probabilities)
}

// As many levels as there may be, with rates over many powers of ten.
func TestSixteenLevels(t *testing.T) {
	s := System{}
	for i := range MaxLevels {
		s.Levels = append(s.Levels, Level{Rate: PerDay(50 / math.Pow(2, float64(i))), Cost: Seconds(1 + 2*float64(i)), Restart: Seconds(1 + 5*float64(i))})
	}
	p, err := Optimise(s, Fixed{})
	require.NoError(t, err)
	require.NoError(t, p.Check(&s))
	require.LessOrEqual(t, p.Gap, Tolerance)
}
