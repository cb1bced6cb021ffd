package plan

import "math"

// settle takes out of the search what has come to its bound: levels that are hardly drawn, and an interval at its least.
func (h *hunt) settle(s Schedule) {
	if h.probs == nil {
		for l := range h.drawn {
			if h.drawn[l] && l != h.m.top && s.Probabilities[l] < 1e-6 {
				h.drawn[l] = false
			}
		}
	}
	if h.interval == 0 && float64(s.Interval)-h.least < 1e-6*h.least {
		h.bound = true
	}
}

// release puts back what would do better off its bound, and reports whether there was any.
func (h *hunt) release(s Schedule) bool {
	v := h.m.evaluate(float64(s.Interval), s.Probabilities, make([]float64, h.m.levels))
	if math.IsInf(v.logU, -1) {
		return false
	}
	found := false
	if h.bound && v.byT*float64(s.Interval) > Tolerance {
		h.bound, found = false, true
	}
	if h.probs != nil {
		return found
	}
	mean := h.mean(s.Probabilities, v.byP)
	for l := h.m.free; l < h.m.top; l++ {
		if !h.drawn[l] && v.byP[l]-mean > Tolerance {
			h.drawn[l], found = true, true
		}
	}
	return found
}

// loosen moves a schedule a little off the bounds that were released.
func (h *hunt) loosen(s Schedule) Schedule {
	if h.interval == 0 && !h.bound {
		s.Interval = max(s.Interval, Seconds(h.least*1.01))
	}
	if h.probs != nil {
		return s
	}
	p := append([]float64(nil), s.Probabilities...)
	for l, d := range h.drawn {
		if d && p[l] < 1e-3 && l != h.m.top {
			p[l] = 1e-3
		}
	}
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for l := range p {
		p[l] /= sum
	}
	return Schedule{Interval: s.Interval, Probabilities: p}
}

// gap returns how far a schedule is from the conditions of Kuhn and Tucker: along every free number the derivative is 0, and
// from every bound it points out of what is allowed. +Inf where the model says nothing.
func (h *hunt) gap(s Schedule) float64 {
	t := float64(s.Interval)
	v := h.m.evaluate(t, s.Probabilities, make([]float64, h.m.levels))
	if math.IsInf(v.logU, -1) {
		return math.Inf(1)
	}
	worst := 0.0
	if h.interval == 0 {
		by := v.byT * t
		if t > h.least || by > 0 {
			worst = math.Abs(by)
		}
	}
	if h.probs != nil {
		return worst
	}
	mean := h.mean(s.Probabilities, v.byP)
	for l := h.m.free; l <= h.m.top; l++ {
		by := v.byP[l] - mean
		if s.Probabilities[l] > 0 {
			by = math.Abs(by) * s.Probabilities[l]
		}
		worst = max(worst, by)
	}
	return worst
}
