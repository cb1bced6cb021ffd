package failbench

import (
	"math"
	"slices"
	"time"
)

// Measure is what one of the benchmarks came to.
type Measure struct {
	Name string
	// Values are one for each run, in their order. Target is the most they should be; Bound says what keeps them from being
	// less.
	Values []time.Duration
	Target time.Duration
	Bound  string
	// Tentative rows that the client was given in all runs together. None is right.
	Tentative int
}

// Median is that of the runs, 0 without any.
func (m *Measure) Median() time.Duration { return quantile(m.Values, 0.5) }

// Worst is the longest, 0 without any.
func (m *Measure) Worst() time.Duration { return quantile(m.Values, 1) }

// quantile returns the value below which a share q of all lies; 0 of none.
func quantile(values []time.Duration, q float64) time.Duration {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}
