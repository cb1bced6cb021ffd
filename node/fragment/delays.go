package fragment

import (
	"slices"
	"time"
)

// delaySteps is how many limits DelaySteps has.
const delaySteps = 9

// DelaySteps returns the limits by which Delays counts, rising.
func DelaySteps() [delaySteps]time.Duration {
	const ms = time.Millisecond
	return [delaySteps]time.Duration{100 * ms, 250 * ms, 500 * ms, 750 * ms, 1000 * ms, 1500 * ms, 2500 * ms, 5000 * ms, 10_000 * ms}
}

// Delays counts how much later than normal the boundaries of an output were given.
type Delays struct {
	// Counts of boundaries that were older than the limit before and at most as old as the one at the same place of
	// DelaySteps; the last counts those older than all limits.
	Counts [delaySteps + 1]uint64
	Sum    time.Duration
}

func (d *Delays) add(delay time.Duration) {
	delay = max(0, delay) // one that was promised ahead of time is not late
	steps := DelaySteps()
	n, _ := slices.BinarySearch(steps[:], delay)
	d.Counts[n]++
	d.Sum += delay
}
