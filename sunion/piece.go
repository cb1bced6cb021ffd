package sunion

import (
	"math/bits"

	"fednode/query/tuple"
)

// cut moves the first rows of the rest, at most maxRows, to the piece: all that lie before some time, or where more have
// one stime, the first of those as they come.
func (m *merger) cut(maxRows int) {
	to, left := cutTime(m.rest, maxRows), maxRows
	m.piece = m.piece[:0]
	rest := m.rest[:0]
	for _, r := range m.rest {
		n := min(r.before(to), left)
		left -= n
		if n > 0 {
			m.piece = append(m.piece, run{c: r.c, lo: r.lo, hi: r.lo + n})
		}
		if r.lo += n; r.lo < r.hi {
			rest = append(rest, r)
		}
	}
	m.rest = rest
}

// cutTime returns a time with at least one row before it. Those before it are at most maxRows, or have one stime; their
// stimes fit into words. Any time that leaves half a batch will do, so it guesses by how the rows are spread.
func cutTime(runs []run, maxRows int) tuple.Time {
	s := spanOf(runs)
	low, high := s.low, s.high+1
	if s.length() >= 1<<spanBits {
		high = low + 1<<spanBits
	}
	below, above := 0, rowsBefore(runs, high) // rows before low and before high
	if above <= maxRows {
		return high
	}
	for guess := true; ; guess = !guess {
		width := uint64(high) - uint64(low)
		if width == 1 {
			break
		}
		step := width / 2
		if guess {
			step = share(width, maxRows-maxRows/16-below, above-below) // a guess may fall short, but not exceed
		}
		mid := low + tuple.Time(min(max(step, 1), width-1))
		switch n := rowsBefore(runs, mid); {
		case n > maxRows:
			high, above = mid, n
		case n > maxRows/2:
			return mid
		default:
			low, below = mid, n
		}
	}
	if below > 0 {
		return low
	}
	return high
}

// share returns width·part/whole, for 0 <= part < whole.
func share(width uint64, part, whole int) uint64 {
	hi, lo := bits.Mul64(width, uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole))
	return q
}

func rowsBefore(runs []run, t tuple.Time) int {
	n := 0
	for _, r := range runs {
		n += r.before(t)
	}
	return n
}

// before returns how many rows of the run have an stime below t.
func (r run) before(t tuple.Time) int {
	switch {
	case r.time(r.lo) >= t:
		return 0
	case r.time(r.hi-1) < t:
		return r.hi - r.lo
	}
	lo, hi := r.lo+1, r.hi-1
	for lo < hi {
		if mid := (lo + hi) / 2; r.time(mid) < t {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - r.lo
}
