package op

import (
	"fmt"
	"time"
	_ "time/tzdata" // zones mean the same on a machine that has no table of its own

	"fednode/query/spec"
	"fednode/query/tuple"
)

// windowKind says how rows fall into windows.
type windowKind uint8

const (
	gridWindow    windowKind = iota // tumbling and sliding
	sessionWindow                   // by gaps between the rows of a group
	countWindow                     // by the number of rows of a group
)

// window is a checked declaration of windows. Lengths are in microseconds.
type window struct {
	kind windowKind
	grid grid

	gap int64
	max int64 // longest session, 0 if there is no limit

	count int64 // rows of a window
	every int64 // rows from one window to the next
}

// Bounds of declarations: the longest window, the slices a sliding one may have, and the rows of a count window.
const (
	maxWindow      = 100 * 366 * tuple.Day
	maxSlices      = 10_000
	maxCountWindow = 10_000_000
)

const windowHint = `write one such as { tumbling = "60s" }, { sliding = "10m", every = "1m" }, { session = "30s" } or { count = 100 }`

// readWindow reads the key window; ok is false, and the problem recorded, if it is wrong.
func readWindow(r *spec.Reader) (w window, ok bool) {
	before := markProblems(r)
	if !r.T.Has("window") {
		r.Value("window", false)
		r.P.Add(r.T.Pos, r.T.KeyPath("window"), windowHint, "the key `window` is missing: without one the groups would grow for ever")
		return w, false
	}
	t := r.Table("window", true)
	if t == nil {
		return w, false
	}
	wr := spec.Read(t, r.P)
	kinds := []string{"tumbling", "sliding", "session", "count"}
	kind := ""
	for _, k := range kinds {
		if !t.Has(k) {
			continue
		}
		if kind != "" {
			wr.Errorf(k, windowHint, "a window is either `%s` or `%s`", kind, k)
			wr.Value(k, false)
			continue
		}
		kind = k
	}
	switch kind {
	case "tumbling", "sliding":
		w = readGrid(wr, kind)
	case "session":
		w = window{kind: sessionWindow, gap: needDuration(wr, "session"), max: wr.Duration("max", 0, 1, maxWindow)}
		if w.max > 0 && w.max < w.gap {
			wr.Errorf("max", "", "a session lasts at least its gap, and `max` is shorter")
		}
	case "count":
		w = window{kind: countWindow, count: wr.Int("count", 1, 1, maxCountWindow)}
		w.every = wr.Int("every", w.count, 1, w.count)
		if w.count/gcd(w.count, w.every) > maxSlices {
			wr.Errorf("every", "choose numbers with a larger common divisor", "the window has more than %d slices", maxSlices)
		}
	default:
		for _, k := range kinds {
			wr.Value(k, false)
		}
		r.Errorf("window", windowHint, "the window has no kind")
	}
	wr.Done()
	return w, !before.more(r)
}

func needDuration(r *spec.Reader, key string) int64 {
	r.Value(key, true, spec.String)
	return r.Duration(key, 1, 1, maxWindow)
}

func readGrid(r *spec.Reader, kind string) window {
	g := grid{size: needDuration(r, kind)}
	g.every = g.size
	if kind == "sliding" {
		g.every = needDuration(r, "every")
	}
	if g.every > g.size {
		r.Errorf("every", "", "windows that begin every %s and last %s would leave rows out", durationText(g.every), durationText(g.size))
		g.every = g.size
	}
	g.offset = r.Duration("offset", 0, -maxWindow, maxWindow)
	g.slice = gcd(g.size, g.every)
	if g.size/g.slice > maxSlices {
		r.Errorf("every", "choose durations with a larger common divisor", "the window has more than %d slices", maxSlices)
	}
	if name := r.String("zone", ""); name != "" {
		zone, err := time.LoadLocation(name)
		switch {
		case err != nil || name == "Local":
			r.Errorf("zone", `write one such as "Europe/Berlin"`, "no time zone `%s`", name)
		case g.slice < tuple.Day && tuple.Day%g.slice != 0 || g.slice > tuple.Day && g.slice%tuple.Day != 0:
			r.Errorf("zone", "", "in a time zone windows divide the day or consist of whole days; %s does neither", durationText(g.slice))
		case zone != time.UTC:
			g.zone = zone
		}
	}
	return window{kind: gridWindow, grid: g.normal()}
}

func durationText(us int64) string { return string(tuple.AppendDuration(nil, us)) }

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// String prints the window for explain.
func (w *window) String() string {
	switch w.kind {
	case sessionWindow:
		if w.max > 0 {
			return fmt.Sprintf("session of gap %s, at most %s", durationText(w.gap), durationText(w.max))
		}
		return "session of gap " + durationText(w.gap)
	case countWindow:
		if w.every != w.count {
			return fmt.Sprintf("window of %d rows every %d", w.count, w.every)
		}
		return fmt.Sprintf("window of %d rows", w.count)
	}
	return w.grid.String()
}

// span is the length of the input that a result depends on; -1 if it is not bounded by time. Where a session begins
// depends on the rows before it for as long as they leave no gap, and where one is cut on where the one before was.
func (w *window) span() int64 {
	if w.kind == gridWindow {
		return w.grid.size
	}
	return -1
}
