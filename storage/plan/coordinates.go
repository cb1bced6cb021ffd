package plan

import "math"

// coordinates are the free numbers of a schedule, without bounds: the logarithm of what the interval is longer than its
// least, and, of each level drawn but the last, the logarithm of its probability by that of the last.
type coordinates struct {
	h      *hunt
	t      bool  // the interval is free
	levels []int // levels drawn, if the probabilities are free
	x      []float64
	byP    []float64
}

func (h *hunt) coordinates(s Schedule) *coordinates {
	c := &coordinates{h: h, t: h.interval == 0 && !h.bound, byP: make([]float64, h.m.levels)}
	if c.t {
		c.x = append(c.x, math.Log(max(float64(s.Interval)-h.least, 1e-6*h.least)))
	}
	if h.probs != nil {
		return c
	}
	for l, d := range h.drawn {
		if d {
			c.levels = append(c.levels, l)
		}
	}
	last := c.levels[len(c.levels)-1]
	for _, l := range c.levels[:len(c.levels)-1] {
		c.x = append(c.x, math.Log(max(s.Probabilities[l], negligible)/max(s.Probabilities[last], negligible)))
	}
	return c
}

// schedule returns what coordinates mean.
func (c *coordinates) schedule(x []float64) Schedule {
	t := c.h.least
	switch {
	case c.t:
		t, x = c.h.least+math.Exp(x[0]), x[1:]
	case c.h.interval != 0:
		t = c.h.interval
	}
	if c.h.probs != nil {
		return Schedule{Interval: Seconds(t), Probabilities: c.h.probs}
	}
	p := make([]float64, c.h.m.levels)
	top := 0.0
	for _, v := range x {
		top = max(top, v)
	}
	last := c.levels[len(c.levels)-1]
	p[last] = math.Exp(-top)
	sum := p[last]
	for i, v := range x {
		p[c.levels[i]] = math.Exp(v - top)
		sum += p[c.levels[i]]
	}
	for _, l := range c.levels {
		p[l] /= sum
	}
	return Schedule{Interval: Seconds(t), Probabilities: p}
}

// loss is −log U.
func (c *coordinates) loss(x []float64) float64 {
	s := c.schedule(x)
	return -c.h.m.evaluate(float64(s.Interval), s.Probabilities, nil).logU
}

// slope sets grad to the derivatives of loss.
func (c *coordinates) slope(grad, x []float64) {
	s := c.schedule(x)
	v := c.h.m.evaluate(float64(s.Interval), s.Probabilities, c.byP)
	if math.IsInf(v.logU, -1) {
		clear(grad) // outside of what the model says; a line search goes back by the value
		return
	}
	if c.t {
		grad[0] = -v.byT * (float64(s.Interval) - c.h.least)
		grad = grad[1:]
	}
	if len(grad) == 0 {
		return
	}
	mean := c.h.mean(s.Probabilities, v.byP)
	for i := range grad {
		l := c.levels[i]
		grad[i] = -s.Probabilities[l] * (v.byP[l] - mean)
	}
}

// mean returns what one more checkpoint is worth on average: no level that is drawn may be worth more or less.
func (h *hunt) mean(p, byP []float64) float64 {
	sum := 0.0
	for l, d := range h.drawn {
		if d {
			sum += p[l] * byP[l]
		}
	}
	return sum
}
