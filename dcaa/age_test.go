package dcaa

import (
	"math"
	"testing"
)

// TestAgeIsBounded shows that an age of a boundary which nobody can believe is passed on, at any depth, as one that frames
// carry, and that others are what they are.
func TestAgeIsBounded(t *testing.T) {
	s := DefaultSettings()
	for _, c := range []struct{ said, want int64 }{
		{5, 105}, {-5, 95}, {1 << 60, MostAge + 100}, {-1 << 60, 100 - MostAge}, {math.MaxInt64, MostAge + 100}, {math.MinInt64, 100 - MostAge},
	} {
		w := NewWait(&s, 1)
		w.Boundary(0, 1_000_000, Age{Total: c.said}, 50)
		if got := w.Age(1_000_000, Place{}, 150); got != c.want {
			t.Errorf("a boundary of age %d is %d old 100 µs later, want %d", c.said, got, c.want)
		}
	}
}
