package plan

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// With two levels it is the published approximation.
func TestApproximateTwoLevels(t *testing.T) {
	s := published(50, 0.5)
	got, err := Approximate(s)
	require.NoError(t, err)
	λ1, λ2 := 24.0/86400, 0.4/86400
	require.InDelta(t, 10+onePlusW(λ1*10)/λ1, float64(got.Interval), 1e-9)
	T, Λ := float64(got.Interval), λ1+λ2
	a := math.Exp(Λ*49*0.5) * (math.Exp(Λ*T) - 1) * λ2 / Λ
	require.InDelta(t, 1-math.Sqrt(a/(1+a)*(T-10)/(30-10)), got.Probabilities[0], 1e-12)
	require.InDelta(t, 271.70, T, 0.005)
}

// Published: over a wide range of rates the approximation costs at most 0.0046 of utilization.
func TestApproximateIsNear(t *testing.T) {
	for _, rate1 := range []float64{6, 12, 24, 48} {
		for _, rate2 := range []float64{0.1, 0.4, 1, 2} {
			s := published(1, 0)
			s.Levels[0].Rate, s.Levels[1].Rate = PerDay(rate1), PerDay(rate2)
			best, err := Optimise(s, Fixed{})
			require.NoError(t, err)
			near, err := Approximate(s)
			require.NoError(t, err)
			m, err := NewModel(s)
			require.NoError(t, err)
			require.LessOrEqual(t, best.Utilization-m.At(near).Utilization, 0.0046, "%g and %g a day", rate1, rate2)
		}
	}
}

// For any number of levels it is where what it maximises is stationary: no small change of a P_l is better.
func TestApproximateIsStationary(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawSystem(r)
		got, err := Approximate(s)
		if err != nil {
			require.ErrorAs(t, err, new(*KeepUpError))
			return
		}
		value := func(p []float64) float64 { return firstOrderValue(s, float64(got.Interval), p) }
		best := value(got.Probabilities)
		for from := range p(got) {
			for to := range p(got) {
				moved := append([]float64(nil), got.Probabilities...)
				d := 1e-3 * moved[from]
				moved[from] -= d
				moved[to] += d
				require.LessOrEqual(t, value(moved), best+1e-9*math.Abs(best))
			}
		}
	})
}

func p(s Schedule) []float64 { return s.Probabilities }

// firstOrderValue is the utilization that the approximation maximises for an interval: restarts cost nothing, and the
// share of time that checkpoints take is small.
func firstOrderValue(s System, t float64, p []float64) float64 {
	m, _ := NewModel(s)
	at := m.sums(p)
	x := math.Exp(m.total*m.lag) * math.Expm1(m.total*t)
	if x*at.lost >= 1 || t <= at.cost {
		return math.Inf(-1)
	}
	return math.Log(t-at.cost) + math.Log1p(-x*at.lost)
}
