package dcaa

import (
	"math/rand/v2"
	"testing"
)

// TestFloor shows that a floor falls at once, rises only when nothing as small has come for a span, and keeps what it knows
// while nothing comes.
func TestFloor(t *testing.T) {
	var f Floor
	if _, known := f.Value(); known {
		t.Error("a floor that has seen nothing knows something")
	}
	const s = Instant(second)
	for _, c := range []struct {
		at    Instant
		v     int64
		lower bool
		want  int64
		why   string
	}{
		{1 * s, 30, false, 30, "the first"},
		{2 * s, 5, false, 5, "it falls at once"},
		{3 * s, 40, false, 5, "and does not rise as fast"},
		{120 * s, 40, false, 5, "within the span"},
		{121 * s, 40, false, 5, "nor when the span is over: the one before still counts"},
		{242 * s, 41, false, 40, "but when nothing as small has come for a whole one"},
		{300 * s, 20, true, 20, "a value from a backlog lowers it"},
		{301 * s, 90, true, 20, "and never counts otherwise"},
		{4000 * s, 70, false, 20, "silence changes nothing"},
		{4121 * s, 70, false, 70, "until a span has been seen"},
	} {
		if c.lower {
			f.Lower(c.at, c.v)
		} else {
			f.See(c.at, c.v)
		}
		if got, _ := f.Value(); got != c.want {
			t.Errorf("%v s: %d, want %d: %s", c.at/s, got, c.want, c.why)
		}
	}
}

// TestFloorAgainstAll shows that a floor is never above the smallest value of the last span, nor below that of the last two.
func TestFloorAgainstAll(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	type value struct {
		at Instant
		v  int64
	}
	var f Floor
	var all []value
	low := func(since Instant) int64 {
		least := all[len(all)-1].v
		for _, x := range all {
			if x.at > since {
				least = min(least, x.v)
			}
		}
		return least
	}
	now := Instant(0)
	for range 5000 {
		now = now.Add(r.Int64N(3 * second))
		all = append(all, value{now, r.Int64N(1000)})
		f.See(now, all[len(all)-1].v)
		got, _ := f.Value()
		if most, least := low(now-Instant(FloorSpan)), low(now-Instant(2*FloorSpan+3*second)); got > most || got < least {
			t.Fatalf("at %d: %d, want %d to %d", now, got, least, most)
		}
	}
}
