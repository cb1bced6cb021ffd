package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// published is the system of the published table: 24 and 0.4 failures a day, checkpoints and restarts of 10 s and 30 s.
func published(n int, hop Seconds) System {
	return System{Levels: []Level{{Rate: PerDay(24), Cost: 10, Restart: 10}, {Rate: PerDay(0.4), Cost: 30, Restart: 30}}, PathLength: n, HopDelay: hop}
}

// Far from λ·T ≪ P the model counts checkpoints as lost that were gone already, and says so.
func TestModelSaysWhereItDoesNotHold(t *testing.T) {
	m, err := NewModel(System{Levels: []Level{{Rate: PerDay(24), Cost: 10, Restart: 10}, {Rate: PerDay(4), Cost: 300, Restart: 300}}})
	require.NoError(t, err)
	p := m.At(Schedule{Interval: 400, Probabilities: []float64{0.95, 0.05}})
	require.InDelta(t, 0.537, p.Utilization, 0.0005)
	require.False(t, p.Valid())
	require.InDelta(t, 0.537-0.619, p.Bias, 0.03) // the process comes to 0.619: package failures
	// Farther still, it has nothing to say.
	p = m.At(Schedule{Interval: 4000, Probabilities: []float64{0.99, 0.01}})
	require.True(t, math.IsNaN(p.Utilization))
	require.False(t, p.Valid())
	// Where every checkpoint survives everything, it is exact.
	require.Zero(t, m.At(Schedule{Interval: 400, Probabilities: []float64{0, 1}}).Bias)
}

// The sums as they stand in the design, term by term, are what evaluate computes.
func TestModelIsTheFormula(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSystem(r)
		c := drawSchedule(r, s)
		m, err := NewModel(s)
		require.NoError(t, err)
		want := formula(s, c)
		got := m.At(c).Utilization
		if want <= 0 || math.IsNaN(want) {
			return // the formula has left its domain
		}
		require.InEpsilon(t, want, got, 1e-9)
	})
}

// formula is the model of a system whose levels all cost something, written down naively.
func formula(s System, c Schedule) float64 {
	total, cost := 0.0, 0.0
	for i, l := range s.Levels {
		total += float64(l.Rate)
		cost += c.Probabilities[i] * float64(l.Cost)
	}
	b, a := 0.0, 1/total
	for l := range s.Levels {
		lost, kept, back, below := 0.0, 0.0, 0.0, 0.0
		for i, p := range c.Probabilities {
			below += float64(s.Levels[i].Rate)
			g := (math.Exp(below*float64(s.Levels[i].Restart)) - 1) / below
			if i < l {
				lost += p
			} else {
				kept += p
				back += p * g
			}
		}
		b += float64(s.Levels[l].Rate) / total * lost / kept
		a += float64(s.Levels[l].Rate) / total * back / kept
	}
	x := math.Exp(total*s.lag()) * (math.Exp(total*float64(c.Interval)) - 1)
	return (float64(c.Interval) - cost) * (1 - x*b) / (x * a)
}

// The derivatives are those of the value.
func TestModelDerivatives(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSystem(r)
		c := drawSchedule(r, s)
		m, err := NewModel(s)
		require.NoError(t, err)
		byP := make([]float64, len(s.Levels))
		v := m.evaluate(float64(c.Interval), c.Probabilities, byP)
		if v.logU < -5 {
			return // at the edge of the domain, differences are no derivatives
		}
		const h = 1e-6
		at := func(t float64, from, to int, share float64) float64 {
			p := append([]float64(nil), c.Probabilities...)
			p[from] -= share
			p[to] += share
			return m.evaluate(t, p, nil).logU
		}
		T := float64(c.Interval)
		require.InDelta(t, (at(T*(1+h), 0, 0, 0)-at(T*(1-h), 0, 0, 0))/(2*h), v.byT*T, 1e-4*(1+math.Abs(v.byT*T)))
		for k := 1; k < len(s.Levels); k++ {
			d := h * min(c.Probabilities[0], c.Probabilities[k])
			want, got := (at(T, 0, k, d)-at(T, 0, k, -d))/(2*d), byP[k]-byP[0]
			require.InDelta(t, want, got, 1e-4*(1+math.Abs(want)+math.Abs(byP[0])), "level %d", k+1)
		}
	})
}

// Nothing overflows: where a restart never ends, nothing useful is done.
func TestModelAtTheEdges(t *testing.T) {
	s := published(1, 0)
	s.Levels[1].Restart = 1e9
	m, err := NewModel(s)
	require.NoError(t, err)
	require.Zero(t, m.At(Schedule{Interval: 300, Probabilities: []float64{0.5, 0.5}}).Utilization)
	m, err = NewModel(published(1_000_000, 1e6))
	require.NoError(t, err)
	require.Zero(t, m.At(Schedule{Interval: 300, Probabilities: []float64{0, 1}}).Utilization)
	// Failures as rare as numbers allow: all time but the checkpoint's is useful.
	m, err = NewModel(System{Levels: []Level{{Rate: 1e-300, Cost: 1, Restart: 1}}})
	require.NoError(t, err)
	require.InDelta(t, 0.9, m.At(Schedule{Interval: 10, Probabilities: []float64{1}}).Utilization, 1e-12)
}

// A level that costs nothing loses no work: it only stretches the time by its restarts.
func TestModelFreeLevel(t *testing.T) {
	s := published(1, 0)
	s.Levels = append([]Level{{Rate: PerDay(48), Restart: 2}}, s.Levels...)
	m, err := NewModel(s)
	require.NoError(t, err)
	require.Equal(t, 2, m.Lowest())
	require.Equal(t, 3, m.Highest())
	without, err := NewModel(published(1, 0))
	require.NoError(t, err)
	c, d := Schedule{Interval: 270, Probabilities: []float64{0, 0.9, 0.1}}, Schedule{Interval: 270, Probabilities: []float64{0.9, 0.1}}
	require.InDelta(t, without.At(d).Utilization/(1+48.0*2/86400), m.At(c).Utilization, 1e-4)
	require.Less(t, m.At(c).Utilization, without.At(d).Utilization)
}

// drawSystem draws levels that all fail and cost something, with some overhead but not hopeless.
func drawSystem(r *rapid.T) System {
	n := rapid.IntRange(1, 6).Draw(r, "levels")
	s := System{PathLength: rapid.IntRange(0, 100).Draw(r, "path"), HopDelay: Seconds(rapid.Float64Range(0, 0.5).Draw(r, "hop"))}
	cost := rapid.Float64Range(0.01, 10).Draw(r, "cost")
	for range n {
		s.Levels = append(s.Levels, Level{Rate: PerDay(rapid.Float64Range(0.01, 30).Draw(r, "rate")), Cost: Seconds(cost),
			Restart: Seconds(rapid.Float64Range(0.1, 300).Draw(r, "restart"))})
		cost *= rapid.Float64Range(1, 4).Draw(r, "dearer")
	}
	return s
}

// drawSchedule draws one that the system may have, every level drawn.
func drawSchedule(r *rapid.T, s System) Schedule {
	c := Schedule{Interval: max(MinInterval, s.Levels[len(s.Levels)-1].Cost) * Seconds(rapid.Float64Range(1.01, 20).Draw(r, "interval"))}
	sum := 0.0
	for range s.Levels {
		v := rapid.Float64Range(0.01, 1).Draw(r, "weight")
		c.Probabilities = append(c.Probabilities, v)
		sum += v
	}
	for i := range c.Probabilities {
		c.Probabilities[i] /= sum
	}
	return c
}
