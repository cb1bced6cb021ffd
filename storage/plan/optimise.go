package plan

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/optimize"
)

// Fixed is what of a schedule is given; the zero value leaves all of it to the optimiser.
type Fixed struct {
	// Interval is T if it is not 0.
	Interval Seconds
	// Probabilities are one a level if they are not nil.
	Probabilities []float64
}

// Check returns every mistake of what is given, for a system without mistakes.
func (f Fixed) Check(sys *System) error {
	var all []error
	if f.Probabilities != nil {
		all = append(all, checkProbabilities(f.Probabilities, sys))
	}
	if f.Interval != 0 {
		s := Schedule{Interval: f.Interval, Probabilities: f.Probabilities}
		if f.Probabilities == nil {
			s.Probabilities = make([]float64, len(sys.Levels))
			for i := len(sys.Levels) - 1; i >= 0; i-- {
				if sys.Levels[i].Rate > 0 {
					s.Probabilities[i] = 1 // every plan draws the highest level that fails
					break
				}
			}
		}
		all = append(all, s.checkInterval(sys))
	}
	return errors.Join(all...)
}

// Plan is the best schedule, with what it comes to.
type Plan struct {
	Schedule
	Point
	// Gap is how far the schedule is from stationary: the largest derivative of log U by the logarithm of T, and by moving a
	// share of the checkpoints to a level, that is left. Optimise returns none above Tolerance.
	Gap float64
}

// Tolerance is the largest Gap: utilization is then within 1e-9 of its maximum for any overhead above a millionth.
const Tolerance = 1e-7

// Optimise returns the schedule with the largest utilization by the model, or the best with what is given. Errors: those of
// NewModel and Fixed.Check; a *KeepUpError where no schedule gets on, if not all is given; and where the search has not
// converged, which is checked by the conditions of Kuhn and Tucker and not by the search's own word.
func Optimise(s System, given Fixed) (Plan, error) {
	m, err := NewModel(s)
	if err != nil {
		return Plan{}, err
	}
	if err := given.Check(&s); err != nil {
		return Plan{}, err
	}
	if given.Interval != 0 && given.Probabilities != nil {
		fixed := Schedule{Interval: given.Interval, Probabilities: given.Probabilities}
		return Plan{Schedule: fixed, Point: m.At(fixed)}, nil
	}
	if err := m.keepsUp(s); err != nil {
		return Plan{}, err
	}
	h := newHunt(m, given)
	best, err := h.run()
	if err != nil {
		return Plan{}, err
	}
	return Plan{Schedule: best, Point: m.At(best), Gap: h.gap(best)}, nil
}

// hunt is one search for the best schedule.
type hunt struct {
	m *Model
	// given
	interval float64 // 0: free
	probs    []float64
	least    float64
	// drawn says which levels may be drawn; the search takes out those that come to nothing.
	drawn []bool
	// bound is true once the interval is kept at its least.
	bound bool
}

func newHunt(m *Model, given Fixed) *hunt {
	h := &hunt{m: m, interval: float64(given.Interval), probs: given.Probabilities, least: m.least(), drawn: make([]bool, m.levels)}
	for l := m.free; l <= m.top; l++ {
		h.drawn[l] = true
	}
	if h.probs != nil {
		h.least = float64(MinInterval)
		for l, p := range h.probs {
			if p > 0 {
				h.least = max(h.least, m.cost[l])
			}
		}
	}
	return h
}

// negligible is a probability at which a level is tried without.
const negligible = 1e-9

// run searches from several starts, takes out what has come to its bound, searches on, and puts back what was taken out
// wrongly, until the conditions hold.
func (h *hunt) run() (Schedule, error) {
	best := h.best(h.starts())
	for range 4 * MaxLevels {
		h.settle(best)
		best = h.best([]Schedule{best})
		wrong := h.release(best)
		if !wrong && h.gap(best) <= Tolerance {
			return best, nil
		}
		if wrong {
			best = h.loosen(best)
		}
	}
	return best, fmt.Errorf("plan: the search for the best schedule has not converged: gap %.2g, at most %.0g was asked for", h.gap(best), Tolerance)
}

// starts are schedules to search from. One with the highest level alone is always feasible; others may not be.
func (h *hunt) starts() []Schedule {
	approx, single := h.m.approximate(), h.m.single()
	mix := func(t Seconds, share float64) Schedule {
		p := make([]float64, h.m.levels)
		for l := range p {
			p[l] = (1-share)*approx.Probabilities[l] + share*single.Probabilities[l]
		}
		return Schedule{Interval: t, Probabilities: p}
	}
	all := []Schedule{mix(approx.Interval, 0.02), mix(single.Interval, 0.3), mix(single.Interval, 0.9), mix(2*approx.Interval, 0.5)}
	even := mix(approx.Interval, 1)
	count := 0
	for _, d := range h.drawn {
		if d {
			count++
		}
	}
	for l, d := range h.drawn {
		even.Probabilities[l] = 0
		if d {
			even.Probabilities[l] = 1 / float64(count)
		}
	}
	return append(all, even)
}

// best searches from each start and returns the best of what was found.
func (h *hunt) best(starts []Schedule) Schedule {
	top := math.Inf(-1)
	var best Schedule
	for _, s := range starts {
		got := h.climb(s)
		if v := h.m.evaluate(float64(got.Interval), got.Probabilities, nil).logU; v > top || best.Probabilities == nil {
			top, best = v, got
		}
	}
	return best
}

// climb searches from one start: a simplex first, which bears a start far off, then by the gradient.
func (h *hunt) climb(s Schedule) Schedule {
	c := h.coordinates(s)
	if len(c.x) == 0 {
		return c.schedule(c.x)
	}
	problem := optimize.Problem{Func: c.loss, Grad: c.slope}
	x := c.x
	for _, step := range []struct {
		settings optimize.Settings
		method   optimize.Method
	}{
		{optimize.Settings{Converger: &optimize.FunctionConverge{Absolute: 1e-13, Iterations: 60}, MajorIterations: 4000}, &optimize.NelderMead{}},
		{optimize.Settings{Converger: optimize.NeverTerminate{}, GradientThreshold: Tolerance / 1000, MajorIterations: 500}, &optimize.BFGS{}},
	} {
		before := c.loss(x)
		// The result counts, not the status: at the last digits a line search ends with an error where nothing is left to gain.
		if r, _ := optimize.Minimize(problem, x, &step.settings, step.method); r != nil && r.F <= before {
			x = r.X
		}
	}
	return c.schedule(x)
}
