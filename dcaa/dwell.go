package dcaa

import (
	"sort"

	"fednode/query/tuple"
)

// Dwell knows since when the boundaries of an output have been there to be read, so that one that is read later says how
// old it has become: who catches up after a restart, or reads slowly, must not take what is old for new.
type Dwell struct {
	stable, tentative []dwelling // both fields rise
	// over: the run of the tentative ones has ended. They are forgotten when the next one begins, which may begin lower: of a
	// run that a GAP has replaced frames are read until then.
	over bool
}

type dwelling struct {
	boundary tuple.Time
	at       Instant
}

// mostDwelling bounds what is remembered: some ten minutes. Of older boundaries it is said that they are at least as old as
// the oldest that is remembered.
const mostDwelling = 8192

// leastDwell is how long a boundary may stand, in microseconds, before it is said: frames are shared, and one that is read
// at once needs no copy.
const leastDwell = 1000

// Note remembers that a frame has been emitted.
func (d *Dwell) Note(f *tuple.Frame, now Instant) {
	switch f.Kind {
	case tuple.Boundary:
		d.stable = dwell(d.stable, f.Time, now)
	case tuple.TentativeBoundary:
		if d.over {
			d.tentative, d.over = d.tentative[:0], false
		}
		d.tentative = dwell(d.tentative, f.Time, now)
	case tuple.Undo, tuple.RecDone:
		d.over = true
	}
}

func dwell(list []dwelling, t tuple.Time, now Instant) []dwelling {
	n := len(list)
	if n > 0 && t <= list[n-1].boundary {
		return list
	}
	if n == mostDwelling {
		list = list[:copy(list, list[n/2:])]
	}
	return append(list, dwelling{t, now})
}

// Stamp returns a frame as it is to be given now: a boundary with the age that it has by now, others as they are. Frames
// are shared by cursors; none is changed.
func (d *Dwell) Stamp(f *tuple.Frame, now Instant) *tuple.Frame {
	list := d.stable
	switch f.Kind {
	case tuple.Boundary:
	case tuple.TentativeBoundary:
		list = d.tentative
	default:
		return f
	}
	k := sort.Search(len(list), func(k int) bool { return list[k].boundary >= f.Time })
	if k == len(list) {
		return f
	}
	stood := int64(now - list[k].at)
	if stood < leastDwell {
		return f
	}
	told := *f
	told.Age = ClampAge(f.Age + stood)
	return &told
}
