package fragment

import (
	"slices"
	"testing"
	"time"
)

// TestDelays shows that a boundary counts in the first step that it does not exceed, and one ahead of its time in the
// first.
func TestDelays(t *testing.T) {
	steps := DelaySteps()
	if !slices.IsSorted(steps[:]) {
		t.Fatalf("the limits do not rise: %v", steps)
	}
	var d Delays
	for _, age := range []time.Duration{-time.Second, 0, 100 * time.Millisecond, 101 * time.Millisecond, 10 * time.Second, time.Minute} {
		d.add(age)
	}
	want := Delays{Sum: 70*time.Second + 201*time.Millisecond}
	want.Counts[0], want.Counts[1], want.Counts[delaySteps-1], want.Counts[delaySteps] = 3, 1, 1, 1
	if d != want {
		t.Fatalf("counted %+v, want %+v", d, want)
	}
}
