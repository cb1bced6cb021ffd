package mpa

import "math"

// Instant is a point of this participant's monotonic clock in microseconds. Only differences mean anything.
type Instant int64

// Never is later than every instant.
const Never Instant = math.MaxInt64

// Add returns the instant d microseconds later; Never stays Never, and nothing runs over.
func (t Instant) Add(d int64) Instant {
	if t == Never || d > 0 && int64(t) > math.MaxInt64-d {
		return Never
	}
	return t + Instant(d)
}

const (
	millisecond int64 = 1_000
	second      int64 = 1_000_000
)
