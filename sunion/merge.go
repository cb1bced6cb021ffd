package sunion

import (
	"math/bits"
	"sort"

	"fednode/query/tuple"
)

// merger merges runs that are each in order into one sequence of batches. It keeps its buffers, and one dictionary a
// binary column into which the codes of all inputs are mapped, so that what follows sees one dictionary.
type merger struct {
	schema *tuple.Schema
	words  [2][]uint64 // packed rows: the order so far, and the one it is merged into
	ends   []int
	staged []tuple.Column // the rows of all runs end to end
	sel    []uint32
	cols   []tuple.Column
	times  []tuple.Time
	dicts  []*unified // nil for columns that are not binary
}

// layout says how one row on its way through the merge is packed into a word: stime above the base, then its place when
// the runs lie end to end. Runs come by input and then by id, so that the order of words is the union's.
type layout struct{ base tuple.Time }

// placeBits bounds how many rows are merged at once: what is merged stays in the cache, and memory for it does not grow
// with the input.
const (
	placeBits = 15
	mergeRows = 1 << placeBits
)

func (l layout) word(t tuple.Time) uint64 { return uint64(t-l.base) << placeBits }

// unpack writes the stimes and places of a stretch of the order.
func (l layout) unpack(order []uint64, times []tuple.Time, places []uint32) {
	times, places = times[:len(order)], places[:len(order)]
	for i, w := range order {
		times[i] = l.base + tuple.Time(w>>placeBits)
		places[i] = uint32(w) & (mergeRows - 1)
	}
}

func (m *merger) init(s *tuple.Schema) {
	m.schema = s
	m.staged, m.cols = make([]tuple.Column, s.Len()), make([]tuple.Column, s.Len())
	m.dicts = make([]*unified, s.Len())
	for i, f := range s.Fields() {
		if f.Type.Kind.IsBinary() {
			m.dicts[i] = newUnified()
		}
	}
}

// run merges the runs by (stime, place of the run) and hands on batches of at most maxRows rows.
func (m *merger) run(runs []run, maxRows int, out func(*tuple.Batch) error) error {
	s := spanOf(runs)
	if !s.fits() {
		early, late := s.split(runs)
		if err := m.run(early, maxRows, out); err != nil {
			return err
		}
		return m.run(late, maxRows, out)
	}
	l := layout{base: s.low}
	order := m.sort(runs, l, s.rows)
	m.stage(runs)
	for lo := 0; lo < len(order); lo += maxRows {
		if err := out(m.build(l, order[lo:min(lo+maxRows, len(order))])); err != nil {
			return err
		}
	}
	return nil
}

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

// fits says whether the rows can be merged at once.
func (s span) fits() bool {
	return s.rows <= mergeRows && bits.Len64(uint64(s.high)-uint64(s.low)) <= 64-placeBits
}

// split cuts the runs in two, all rows of the first before all of the second: in the middle of their time, or where all
// have one stime, in the middle of the rows as they come. It ends: either the time or the rows become fewer.
func (s span) split(runs []run) (early, late []run) {
	mid, rows := s.low+tuple.Time((uint64(s.high)-uint64(s.low))/2)+1, s.rows/2
	for _, r := range runs {
		var cut int
		if s.low == s.high {
			cut = min(r.lo+rows, r.hi)
			rows -= cut - r.lo
		} else {
			cut = r.lo + sort.Search(r.hi-r.lo, func(k int) bool { return r.time(r.lo+k) >= mid })
		}
		if cut > r.lo {
			early = append(early, run{c: r.c, lo: r.lo, hi: cut})
		}
		if cut < r.hi {
			late = append(late, run{c: r.c, lo: cut, hi: r.hi})
		}
	}
	return early, late
}

// sort packs the rows and merges neighbouring sequences pairwise until one is left.
func (m *merger) sort(runs []run, l layout, rows int) []uint64 {
	src, dst := sized(m.words[0], rows), sized(m.words[1], rows)
	m.words = [2][]uint64{src, dst}
	ends := m.pack(src, runs, l)
	for len(ends) > 1 {
		lo, kept := 0, ends[:0]
		for k := 0; k < len(ends); k += 2 {
			if k+1 == len(ends) {
				copy(dst[lo:ends[k]], src[lo:ends[k]])
				kept = append(kept, ends[k])
				break
			}
			mid, hi := ends[k], ends[k+1]
			mergeTwo(dst[lo:hi], src[lo:mid], src[mid:hi])
			kept = append(kept, hi)
			lo = hi
		}
		ends = kept
		src, dst = dst, src
	}
	m.ends = ends
	return src
}

// pack packs the rows and returns where each sequence in order ends: a run that goes on where the one before it ended,
// as the batches of an input in order do, is of the same sequence.
func (m *merger) pack(words []uint64, runs []run, l layout) (ends []int) {
	ends = m.ends[:0]
	n := 0
	for _, r := range runs {
		t, to := r.c.batch.Time, words[n:n+r.hi-r.lo]
		if r.c.order == nil {
			for i, at := range t[r.lo:r.hi] {
				to[i] = l.word(at) | uint64(n+i)
			}
		} else {
			for i, row := range r.c.order[r.lo:r.hi] {
				to[i] = l.word(t[row]) | uint64(n+i)
			}
		}
		if n > 0 && words[n-1] < words[n] {
			ends = ends[:len(ends)-1]
		}
		n += len(to)
		ends = append(ends, n)
	}
	return ends
}
