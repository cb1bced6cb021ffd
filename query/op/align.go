package op

import (
	"slices"

	"fednode/query/tuple"
)

// aligner makes an operator of several inputs independent of how their calls interleave: it keeps the rows of every
// port, and once all boundaries have passed an instant hands them on in order of (stime, port, arrival).
type aligner struct {
	logs  []*rowLog
	done  []int64      // per port: position of the first row not handed on
	heads []tuple.Time // per port the stime of that row, MaxTime if there is none; as of the last boundary call
	bound []tuple.Time
}

func newAligner(schemas ...*tuple.Schema) *aligner {
	n := len(schemas)
	a := &aligner{done: make([]int64, n), heads: make([]tuple.Time, n), bound: make([]tuple.Time, n)}
	for i, s := range schemas {
		a.logs = append(a.logs, newRowLog(s))
		a.bound[i] = tuple.MinTime
	}
	return a
}

// boundary takes in a port's boundary and returns the least of all. Steps follow it, before rows are added again.
func (a *aligner) boundary(port int, t tuple.Time) tuple.Time {
	a.bound[port] = max(a.bound[port], t)
	for p := range a.logs {
		a.heads[p] = a.head(p)
	}
	return a.limit()
}

// limit is the least boundary of all ports.
func (a *aligner) limit() tuple.Time {
	t := tuple.MaxTime
	for _, b := range a.bound {
		t = min(t, b)
	}
	return t
}

// head returns the stime of the next row of a port, MaxTime if there is none.
func (a *aligner) head(port int) tuple.Time {
	l := a.logs[port]
	if a.done[port] == l.next {
		return tuple.MaxTime
	}
	return l.time(a.done[port])
}

// step hands on the next rows in merged order with stime below limit: rows [lo, hi) of the batch b of a port. The rows
// stay in the port's log until they are dropped there.
func (a *aligner) step(limit tuple.Time) (port int, b *tuple.Batch, lo, hi int, ok bool) {
	var at tuple.Time
	until, port := limit, -1 // the run ends before until
	for p, t := range a.heads {
		if t >= limit {
			continue
		}
		switch {
		case port < 0:
			port, at = p, t
		case t < at:
			// Rows of the earlier port at the same stime come first, so this run ends before at itself.
			until = min(until, at)
			port, at = p, t
		default:
			until = min(until, t.Add(1))
		}
	}
	if port < 0 {
		return 0, nil, 0, 0, false
	}
	l := a.logs[port]
	b, lo, hi = l.run(a.done[port], l.next)
	hi = lo + countBelow(b.Time[lo:hi], until)
	a.done[port] += int64(hi - lo)
	if hi < len(b.Time) {
		a.heads[port] = b.Time[hi]
	} else {
		a.heads[port] = a.head(port)
	}
	return port, b, lo, hi, true
}

// countBelow returns how many of the leading times are below t; times do not fall.
func countBelow(times []tuple.Time, t tuple.Time) int {
	n := len(times)
	if n == 0 || times[n-1] < t {
		return n
	}
	lo := 0
	for lo < min(4, n) { // runs of merged streams are short
		if times[lo] >= t {
			return lo
		}
		lo++
	}
	for hi := n; lo < hi; {
		if m := int(uint(lo+hi) >> 1); times[m] < t {
			lo = m + 1
		} else {
			hi = m
		}
		n = lo
	}
	return n
}

// dropDone forgets every row handed on.
func (a *aligner) dropDone() {
	for p, l := range a.logs {
		l.drop(a.done[p])
	}
}

func (a *aligner) fork() *aligner {
	f := &aligner{done: slices.Clone(a.done), heads: slices.Clone(a.heads), bound: slices.Clone(a.bound)}
	for _, l := range a.logs {
		f.logs = append(f.logs, l.fork())
	}
	return f
}

func (a *aligner) bytes() int64 {
	n := int64(0)
	for _, l := range a.logs {
		n += l.bytes()
	}
	return n
}

// snapshot appends boundaries and the rows kept, of each port how many of them have been handed on.
func (a *aligner) snapshot(e *tuple.Encoder) {
	for p, l := range a.logs {
		e.Time(a.bound[p])
		e.Uint(uint64(a.done[p] - l.first))
		l.snapshot(e)
	}
}

func (a *aligner) restore(d *tuple.Decoder) {
	for p, l := range a.logs {
		a.bound[p] = d.Time()
		done := d.Uint()
		l.restore(d)
		if done > uint64(l.size()) {
			d.Fail("%d rows handed on of %d", done, l.size())
			return
		}
		a.done[p] = int64(done)
	}
}
