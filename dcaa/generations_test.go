package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// A producer that tells of another generation with each heartbeat stands still all the same, and is left for one that gives.
func TestGenerationsWithoutEnd(t *testing.T) {
	s := DefaultSettings()
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b"}, Tentative: true}, 1, &opener{}, &heardAll{})
	now, at := Instant(1), tuple.Time(0)
	for n := range 2 {
		i.Reachable(now, n, true)
	}
	i.Heard(now, 0, StreamStatus{State: Stable, Boundary: at, Generation: 1})
	i.Opened(now, i.next.id)
	if err := i.Frame(now, i.data.id, &tuple.Frame{Kind: tuple.Boundary, Time: at, Age: 1}); err != nil {
		t.Fatal(err)
	}
	for beat := range uint64(20) {
		now, at = now.Add(s.Heartbeat), at.Add(s.Heartbeat)
		i.Heard(now, 0, StreamStatus{State: Stable, Boundary: 0, Generation: 1 + (beat+1)%2})
		i.Heard(now, 1, StreamStatus{State: Stable, Boundary: at, Generation: 1})
		i.Tick(now)
	}
	if i.next == nil || i.next.producer != 1 {
		t.Fatalf("after 2 s it is still read from %d, next %v", i.Source(), i.next)
	}
}
