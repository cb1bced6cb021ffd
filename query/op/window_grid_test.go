package op

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"fednode/query/tuple"
)

// Slices cover time without gap or overlap in every zone, and each begins at the first instant at which the local clock
// has reached its start: with hours skipped and repeated at midnight, shifts of half an hour, and a day left out.
func TestGridInZones(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, name := range []string{
		"Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "Pacific/Apia", "Asia/Gaza",
	} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, slice := range []int64{tuple.Hour, 6 * tuple.Hour, tuple.Day, 7 * tuple.Day} {
			g := grid{size: slice, every: slice, slice: slice, offset: rng.Int64N(3) * tuple.Hour, zone: zone}.normal()
			for range 300 {
				checkSlice(t, &g, tuple.TimeOf(time.Date(1980+rng.IntN(50), 1, 1+rng.IntN(365), rng.IntN(24), 30, 0, 0, time.UTC)))
			}
			for _, at := range transitions(zone) {
				for _, d := range []int64{-tuple.Hour, -1, 0, 1, tuple.Hour} {
					checkSlice(t, &g, at.Add(d))
				}
			}
		}
	}
}

func checkSlice(t *testing.T, g *grid, at tuple.Time) {
	t.Helper()
	k := g.index(at)
	start, end := g.at(k), g.at(k+1)
	if at < start || at >= end {
		t.Fatalf("%v: %v is not in its slice [%v, %v)", g, at, start, end)
	}
	label := k*g.slice + g.offset
	if local := int64(start) + zoneOffset(g.zone, start); local < label {
		t.Fatalf("%v: the slice of %v begins before its local time", g, at)
	}
	for back := int64(1); back < 30*tuple.Hour; back += 20 * tuple.Minute {
		before := start.Add(-back)
		if local := int64(before) + zoneOffset(g.zone, before); local >= label {
			t.Fatalf("%v: the clock had reached the slice of %v at %v, before %v", g, at, before, start)
		}
	}
}

// transitions lists when the clock of a zone was changed from 1985 to 2025.
func transitions(zone *time.Location) []tuple.Time {
	var out []tuple.Time
	at := time.Date(1985, 1, 1, 0, 0, 0, 0, time.UTC).In(zone)
	for at.Year() < 2025 {
		_, end := at.ZoneBounds()
		if end.IsZero() {
			break
		}
		out = append(out, tuple.TimeOf(end))
		at = end.In(zone)
	}
	return out
}

// Without a zone a slice is found by arithmetic; the ends of the range of time saturate and never wrap around.
func TestGridOfUTC(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	for range 5000 {
		size := 1 + rng.Int64N(100)
		every := 1 + rng.Int64N(size)
		g := grid{size: size, every: every, slice: gcd(size, every), offset: rng.Int64N(400) - 200}.normal()
		at := tuple.Time(rng.Int64N(2000) - 1000)
		k := g.index(at)
		if start := g.at(k); start > at || at >= g.at(k+1) || start.Add(g.slice) != g.at(k+1) {
			t.Fatalf("%v: slice %d of %v begins at %v", g, k, at, start)
		}
		first := g.firstWindow(k)
		if g.windowEnd(first) <= at || g.windowEnd(first-1) > at || g.windowStart(first) > at {
			t.Fatalf("%v: window %d is [%v, %v), the first to hold %v", g, first, g.windowStart(first), g.windowEnd(first), at)
		}
	}
	g := grid{size: tuple.Minute, every: tuple.Minute, slice: tuple.Minute, offset: tuple.Second}
	for _, at := range []tuple.Time{math.MinInt64 + 1, math.MinInt64 + 5, math.MaxInt64 - 5, math.MaxInt64 - 1} {
		if k := g.index(at); g.at(k) > at || g.at(k+1) <= at {
			t.Fatalf("%v is not in its slice [%v, %v)", at, g.at(k), g.at(k+1))
		}
	}
}
