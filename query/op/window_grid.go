package op

import (
	"math"
	"time"

	"fednode/query/tuple"
)

// grid is where tumbling and sliding windows lie: window j covers the slices j·step to j·step+slices−1, and slice k the
// local times from offset+k·slice up to the next slice. Without a zone local time is stream time. In a zone a slice
// begins at the first instant at which the local clock has reached its start, so that a day has 23, 24 or 25 hours and
// an hour that the clock repeats belongs to one slice.
//
// Lengths are in microseconds. Results at the ends of the range of time saturate.
type grid struct {
	size, every, slice int64
	offset             int64
	zone               *time.Location // nil for UTC
}

// normal brings the offset into [0, every).
func (g grid) normal() grid {
	g.offset %= g.every
	if g.offset < 0 {
		g.offset += g.every
	}
	return g
}

func (g *grid) slices() int64 { return g.size / g.slice }

func (g *grid) step() int64 { return g.every / g.slice }

// String prints the grid for explain.
func (g grid) String() string {
	s := durationText(g.size) + " tumbling window"
	if g.every != g.size {
		s = durationText(g.size) + " sliding window every " + durationText(g.every)
	}
	if g.offset != 0 {
		s += " offset by " + durationText(g.offset)
	}
	if g.zone != nil {
		s += " in " + g.zone.String()
	}
	return s
}

// index returns the slice that holds t.
func (g *grid) index(t tuple.Time) int64 {
	if g.zone == nil {
		return floorDiv(saturatingSub(int64(t), g.offset), g.slice)
	}
	local := int64(t) + zoneOffset(g.zone, t)
	k := floorDiv(local-g.offset, g.slice)
	// Where the clock was set back, the slice had begun before.
	for g.at(k+1) <= t {
		k++
	}
	return k
}

// at returns where slice k begins.
func (g *grid) at(k int64) tuple.Time {
	switch {
	case k > (math.MaxInt64-g.offset)/g.slice:
		return tuple.MaxTime
	case k < math.MinInt64/g.slice:
		return tuple.MinTime
	}
	local := k*g.slice + g.offset
	if g.zone == nil || local > math.MaxInt64-2*tuple.Day || local < math.MinInt64+2*tuple.Day {
		return tuple.Time(local)
	}
	return firstInstant(g.zone, local)
}

// maxZoneShift bounds how far local time is from UTC.
const maxZoneShift = 26 * tuple.Hour

// firstInstant returns the first instant at which the clock of a zone shows local, in microseconds, or later.
func firstInstant(zone *time.Location, local int64) tuple.Time {
	for t := tuple.Time(local - maxZoneShift); ; {
		at := t.GoTime().In(zone)
		_, seconds := at.Zone()
		_, until := at.ZoneBounds()
		reached := max(t, tuple.Time(local-int64(seconds)*tuple.Second))
		if until.IsZero() || reached < tuple.TimeOf(until) {
			return reached
		}
		t = tuple.TimeOf(until)
	}
}

func zoneOffset(zone *time.Location, t tuple.Time) int64 {
	_, seconds := t.GoTime().In(zone).Zone()
	return int64(seconds) * tuple.Second
}

// windowStart and windowEnd return the bounds of window j.
func (g *grid) windowStart(j int64) tuple.Time { return g.at(j * g.step()) }

func (g *grid) windowEnd(j int64) tuple.Time { return g.at(j*g.step() + g.slices()) }

// firstWindow returns the first window that covers slice k.
func (g *grid) firstWindow(k int64) int64 { return ceilDiv(k-g.slices()+1, g.step()) }

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 {
	q := a / b
	if a%b > 0 {
		q++
	}
	return q
}

func saturatingSub(a, b int64) int64 {
	d := a - b
	if b > 0 && d > a {
		return math.MinInt64
	}
	if b < 0 && d < a {
		return math.MaxInt64
	}
	return d
}
