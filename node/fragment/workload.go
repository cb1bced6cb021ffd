package fragment

import "fednode/dcaa"

// workSpan is over which time work is measured, in microseconds.
const workSpan = 10_000_000

// workload measures how much of the time the loop works, and whether a redo gains on its input.
type workload struct {
	began  dcaa.Instant
	worked int64
	// total is for how long it has worked since the start, in microseconds.
	total int64
	// load is the share of the last span in which the loop worked, 0 to 1.
	load float64
	// redoing since redoBegan, when the stable side was so far behind, in microseconds of stream time.
	redoing   bool
	redoBegan dcaa.Instant
	behind    int64
	// loses: a redo has not gained anything in the last span. New rows come as fast as they are worked off, and more power is
	// needed.
	loses bool
}

// add takes a piece of work that has ended now, and how far a redo that is under way is behind; redoing is false without one.
func (w *workload) add(now dcaa.Instant, worked int64, redoing bool, behind int64) {
	w.worked += worked
	w.total += worked
	if took := int64(now - w.began); took >= workSpan {
		w.load, w.began, w.worked = min(1, float64(w.worked)/float64(took)), now, 0
	}
	switch {
	case !redoing:
		w.redoing, w.loses = false, false
	case !w.redoing:
		w.redoing, w.redoBegan, w.behind = true, now, behind
	case int64(now-w.redoBegan) >= workSpan:
		w.loses = behind >= w.behind
		w.redoBegan, w.behind = now, behind
	}
}
