package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// TestRestless shows that a producer which opens a run again and again counts for less while it does, and no longer once
// it has been calm for a minute.
func TestRestless(t *testing.T) {
	s := DefaultSettings()
	p := producer{up: true, heard: true, status: StreamStatus{State: UpstreamFailure}}
	now := Instant(0)
	for n := range uint64(mostRuns + 1) {
		if got := p.rank(now, &s, false); got != tentative {
			t.Fatalf("after %d runs: rank %d", n, got)
		}
		now += Instant(5 * second)
		run := tuple.Run{Producer: "a", N: n + 1}
		p.inRun(now, run)
		p.inRun(now, run) // the same again says nothing new
	}
	if got := p.rank(now, &s, false); got != restless {
		t.Fatalf("more than %d runs within a minute: rank %d", mostRuns, got)
	}
	if got := p.rank(now+Instant(40*second), &s, false); got != tentative {
		t.Fatalf("calm again: rank %d", got)
	}
}
