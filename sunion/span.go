package sunion

import "fednode/query/tuple"

// span is the extent of some runs.
type span struct {
	low, high tuple.Time // the least and the greatest stime
	rows      int
}

func spanOf(runs []run) span {
	s := span{low: tuple.MaxTime, high: tuple.MinTime}
	for _, r := range runs {
		s.low, s.high = min(s.low, r.time(r.lo)), max(s.high, r.time(r.hi-1))
		s.rows += r.hi - r.lo
	}
	return s
}

func (s span) length() uint64 { return uint64(s.high) - uint64(s.low) }

// wideRows is how many rows are looked at for each batch that is cut off them. More are first cut in two by time, so that
// a batch is not sought among runs that lie far from it.
const wideRows = 1 << 16

func (s span) wide() bool { return s.rows > wideRows && s.length() > 0 }

// split cuts the runs in the middle of their time.
func (s span) split(runs []run) (early, late []run) {
	mid := s.low + tuple.Time(s.length()/2) + 1
	for _, r := range runs {
		cut := r.lo + r.before(mid)
		if cut > r.lo {
			early = append(early, run{c: r.c, lo: r.lo, hi: cut})
		}
		if cut < r.hi {
			late = append(late, run{c: r.c, lo: cut, hi: r.hi})
		}
	}
	return early, late
}
