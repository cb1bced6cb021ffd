package sim

import (
	"math"
	"slices"
)

// Spread is how far apart nodes are, in percentage points.
type Spread struct {
	// Range is the highest less the lowest, Deviation the standard deviation.
	Range, Deviation float64
}

// SpreadOf measures the usage of some nodes.
func SpreadOf(usage []float64) Spread {
	if len(usage) == 0 {
		return Spread{}
	}
	mean, squares := 0.0, 0.0
	for _, v := range usage {
		mean += v / float64(len(usage))
	}
	for _, v := range usage {
		squares += (v - mean) * (v - mean)
	}
	return Spread{tidy(slices.Max(usage) - slices.Min(usage)), math.Sqrt(squares / float64(len(usage)))}
}

// Spread measures the nodes that count after a round, 0 being the start; still as if nothing had ever moved.
func (r *Result) Spread(round int, still bool) Spread {
	usage := r.Initial
	switch {
	case round > 0 && still:
		usage = r.Rounds[round-1].Still
	case round > 0:
		usage = r.Rounds[round-1].Usage
	}
	var counted []float64
	for i, v := range usage {
		if out, ok := r.Out[i]; !ok || round < out {
			counted = append(counted, v)
		}
	}
	return SpreadOf(counted)
}

// Mean is the mean spread over the rounds of a run, and what it would have been had nothing moved.
func (r *Result) Mean() (balanced, still Spread) {
	n := float64(len(r.Rounds))
	for i := range r.Rounds {
		a, b := r.Spread(i+1, false), r.Spread(i+1, true)
		balanced.Range, balanced.Deviation = balanced.Range+a.Range/n, balanced.Deviation+a.Deviation/n
		still.Range, still.Deviation = still.Range+b.Range/n, still.Deviation+b.Deviation/n
	}
	return balanced, still
}

// Final is what nodes are at in the end.
func (r *Result) Final() []float64 {
	if len(r.Rounds) == 0 {
		return r.Initial
	}
	return r.Rounds[len(r.Rounds)-1].Usage
}
