package dcaa

import (
	"testing"

	"fednode/query/tuple"
)

// nobody performs nothing.
type nobody struct{}

func (nobody) Open(Opening) {}
func (nobody) Close(uint64) {}

// TestGenerationBeginsLower shows that a producer whose new generation begins far below what the one before had reached
// counts as what it is, and not as one whose boundary stands still.
func TestGenerationBeginsLower(t *testing.T) {
	s := DefaultSettings()
	i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a"}}, 0, nobody{}, nil)
	i.Reachable(0, 0, true)
	now := Instant(0)
	rise := func(generation uint64, from tuple.Time) {
		t.Helper()
		for n := range int64(30) {
			now = now.Add(s.Heartbeat)
			i.Heard(now, 0, StreamStatus{State: Stable, Generation: generation, Boundary: from.Add(n * s.BoundaryInterval)})
			if got := i.rank(now, 0); got != stable {
				t.Fatalf("generation %d after %d heartbeats: rank %d, want %d", generation, n+1, got, stable)
			}
		}
	}
	rise(1, 1_000_000_000)
	rise(2, 5_000_000)
}
