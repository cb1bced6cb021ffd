package dcaa

import (
	"sort"

	"fednode/query/tuple"
)

// loose are the rows of an input beyond its boundaries: for each bucket that the furthest of them has reached, when it did
// first, and when it got furthest within it. A bucket's clock must not run since rows before it came, which may have been
// let go tentatively long ago.
type loose []stretch

// stretch is up to where rows had come within a bucket: when the first of them came, and when the furthest did.
type stretch struct {
	to       tuple.Time
	came, at Instant
}

// mostLoose bounds what is remembered; the oldest go.
const mostLoose = 1024

// rows notes rows up to high.
func (l loose) rows(high tuple.Time, bucket int64, now Instant) loose {
	n := len(l)
	if n > 0 {
		last := &l[n-1]
		if high <= last.to {
			return l
		}
		if high < bucketEnd(last.to, bucket) {
			last.to, last.at = high, now
			return l
		}
	}
	if n == mostLoose {
		l = l[:copy(l, l[n/2:])]
	}
	return append(l, stretch{to: high, came: now, at: now})
}

// boundary forgets the rows that a boundary covers. What is left beyond it came after the one before it: older rows have
// been let go by then.
func (l loose) boundary(t tuple.Time, now Instant) loose {
	l = l.forget(t)
	for k := range l {
		l[k].came = now
	}
	return l
}

// forget forgets rows before a stime.
func (l loose) forget(t tuple.Time) loose {
	k := l.search(t)
	return l[:copy(l, l[k:])]
}

// search returns the first stretch that reaches t.
func (l loose) search(t tuple.Time) int {
	return sort.Search(len(l), func(k int) bool { return l[k].to >= t })
}

// beyond returns the first stretch of rows that no bucket up to after holds.
func (l loose) beyond(after tuple.Time) (stretch, bool) {
	k := l.search(after)
	if k == len(l) {
		return stretch{}, false
	}
	return l[k], true
}

func (l loose) shift(gap int64) {
	for k := range l {
		l[k].came, l[k].at = l[k].came.Add(gap), l[k].at.Add(gap)
	}
}

// bucketEnd is the end of the bucket that a stime lies in.
func bucketEnd(t tuple.Time, bucket int64) tuple.Time { return t.FloorTo(bucket, 0).Add(bucket) }
