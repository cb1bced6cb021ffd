package plan

import "math"

// Approximate returns the best schedule to first order, in closed form: good where failures of the lowest level are far
// more frequent than those above and restarts are cheap. Every error of NewModel, and a *KeepUpError.
//
//	T   ≈ c_1 + (1 + W(−e^(−λ_1·c_1 − 1)))/λ_1
//	P_l ≈ √( a_l/(1+Σa) · (T − c_1)/(c_l − c_{l−1}) )      a_l = X·λ_l/Λ      p_l = P_l − P_{l+1}
//
// The first is the best interval of the lowest level alone. Given T, the second is where log U, with the work between two
// checkpoints at c_1 + Σ P_l·(c_l − c_{l−1}) less than T, is stationary in every P_l; with two levels it is the published
// p_1. Where the P_l would rise with l, the levels between have no use and are left out.
func Approximate(s System) (Schedule, error) {
	m, err := newPlanned(s)
	if err != nil {
		return Schedule{}, err
	}
	return m.approximate(), nil
}

// SingleLevel returns the best schedule that takes every checkpoint at the highest level that fails. Its interval,
// c + (1 + W(−e^(−Λ·c − 1)))/Λ, is exact.
func SingleLevel(s System) (Schedule, error) {
	m, err := newPlanned(s)
	if err != nil {
		return Schedule{}, err
	}
	return m.single(), nil
}

// newPlanned returns the model of a system for which there is a plan.
func newPlanned(s System) (*Model, error) {
	m, err := NewModel(s)
	if err != nil {
		return nil, err
	}
	return m, m.keepsUp(s)
}

// keepsUp says why no schedule gets on: what every schedule needs takes longer than the time between the failures that
// make it begin anew.
func (m *Model) keepsUp(s System) error {
	mean := Seconds(1 / (m.total * m.stretch))
	if c := s.Levels[m.top].Cost; c > mean {
		return &KeepUpError{Level: m.top + 1, Field: FieldCost, Takes: c, Between: mean}
	}
	if Seconds(m.lag) > mean {
		return &KeepUpError{Field: FieldHopDelay, Takes: Seconds(m.lag), Between: mean}
	}
	below := 0.0
	for l := 0; l <= m.top; l++ {
		below += m.rate[l]
		needed := l < m.free && m.rate[l] > 0 || l == m.top
		if r := s.Levels[l].Restart; needed && below > 0 && float64(r) > 1/below {
			return &KeepUpError{Level: l + 1, Field: FieldRestart, Takes: r, Between: Seconds(1 / below)}
		}
	}
	return nil
}

// least returns the shortest interval of a plan: it holds a checkpoint of the highest level.
func (m *Model) least() float64 { return max(float64(MinInterval), m.cost[m.top]) }

func (m *Model) single() Schedule {
	s := Schedule{Interval: Seconds(max(m.least(), bestInterval(m.total*m.stretch, m.cost[m.top]))), Probabilities: make([]float64, m.levels)}
	s.Probabilities[m.top] = 1
	return s
}

// bestInterval returns the best interval where every failure goes back to the last checkpoint.
func bestInterval(rate, cost float64) float64 { return cost + onePlusW(rate*cost)/rate }

func (m *Model) approximate() Schedule {
	low := m.free
	for m.rate[low] == 0 && low < m.top {
		low++ // levels that do not fail have no use
	}
	t := max(m.least(), bestInterval(m.rate[low]*m.stretch, m.cost[low]))
	return Schedule{Interval: Seconds(t), Probabilities: m.firstOrder(t, low)}
}

// step is one level, or several that are drawn as one: what its failures weigh, and what it costs more than the level below.
type step struct {
	level     int
	a, dearer float64
}

func (s step) root() float64 {
	if s.dearer == 0 {
		return math.Inf(1)
	}
	return math.Sqrt(s.a / s.dearer)
}

// firstOrder returns the probabilities for an interval. A level whose P would be more than that of the level below is
// joined with it, as in isotonic regression: both then have the P of their sums. While the lowest P would be above 1, the
// levels below it are left out.
func (m *Model) firstOrder(t float64, low int) []float64 {
	x := math.Exp(min(700, m.total*m.lag+logExpm1(m.total*m.stretch*t)))
	sum, steps := 0.0, []step{}
	for l := low + 1; l <= m.top; l++ {
		s := step{level: l, a: x * m.rate[l] / m.total, dearer: m.cost[l] - m.cost[l-1]}
		sum += s.a
		for len(steps) > 0 && steps[len(steps)-1].root() <= s.root() {
			last := steps[len(steps)-1]
			s.a, s.dearer = s.a+last.a, s.dearer+last.dearer
			steps = steps[:len(steps)-1]
		}
		steps = append(steps, s)
	}
	scale := func() float64 { return math.Sqrt(max(0, t-m.cost[low]) / (1 + sum)) }
	for len(steps) > 0 && steps[0].root()*scale() >= 1 {
		low, sum, steps = steps[0].level, sum-steps[0].a, steps[1:] // every checkpoint is of this level or above
	}
	p := make([]float64, m.levels)
	before, at := 1.0, low
	for _, s := range steps {
		above := s.root() * scale()
		p[at] = before - above
		before, at = above, s.level
	}
	p[at] = before
	return p
}
