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
	a, b   []uint64
	ends   []int
	places places
	cols   []tuple.Column
	times  []tuple.Time
	dicts  []*unified // nil for columns that are not binary
}

// layout says how one row on its way through the merge is packed into a word: stime above the base, then its run. Rows
// of a run come in order, so the word need not say which row it is. Equal words are rows of one run and one stime; all
// others differ, and their order is the union's.
type layout struct {
	base    tuple.Time
	runBits uint
}

// The masks of the shifts tell the compiler that they stay below 64, which saves it a test a row.
func (l layout) word(t tuple.Time, run int) uint64 {
	return uint64(t-l.base)<<(l.runBits&63) | uint64(run)
}
func (l layout) run(w uint64) int         { return int(w & (1<<(l.runBits&63) - 1)) }
func (l layout) time(w uint64) tuple.Time { return l.base + tuple.Time(w>>(l.runBits&63)) }

// maxSort is how many rows are merged at once: more would leave the cache, and memory for the words would grow with the
// input.
const maxSort = 1 << 20

// plan returns the layout for a release, or ok = false if its words would not fit or be too many; then the release is
// split by time, which ends because rows of one stime need no bits for it.
func plan(runs []run) (l layout, total int, ok bool) {
	low, high := tuple.MaxTime, tuple.MinTime
	for _, r := range runs {
		low, high = min(low, r.time(r.lo)), max(high, r.time(r.hi-1))
		total += r.hi - r.lo
	}
	l = layout{base: low, runBits: uint(bits.Len(uint(len(runs) - 1)))}
	span := uint64(high) - uint64(low)
	fits := uint(bits.Len64(span))+l.runBits <= 64
	return l, total, span == 0 || fits && total <= maxSort
}

func (m *merger) init(s *tuple.Schema) {
	m.schema = s
	m.cols = make([]tuple.Column, s.Len())
	m.dicts = make([]*unified, s.Len())
	for i, f := range s.Fields() {
		if f.Type.Kind.IsBinary() {
			m.dicts[i] = newUnified()
		}
	}
}

// run merges the runs by (stime, place of the run) and hands on batches of at most maxRows rows.
func (m *merger) run(runs []run, maxRows int, out func(*tuple.Batch) error) error {
	l, total, ok := plan(runs)
	if !ok {
		early, late := split(runs)
		if err := m.run(early, maxRows, out); err != nil {
			return err
		}
		return m.run(late, maxRows, out)
	}
	order := m.sort(runs, l, total)
	remaps := m.remaps(runs)
	m.places.start(runs, maxRows)
	for lo := 0; lo < len(order); lo += maxRows {
		if err := out(m.build(runs, remaps, l, order[lo:min(lo+maxRows, len(order))])); err != nil {
			return err
		}
	}
	return nil
}

// split cuts the runs in the middle of their time.
func split(runs []run) (early, late []run) {
	low, high := tuple.MaxTime, tuple.MinTime
	for _, r := range runs {
		low, high = min(low, r.time(r.lo)), max(high, r.time(r.hi-1))
	}
	mid := low + tuple.Time((uint64(high)-uint64(low))/2) + 1
	for _, r := range runs {
		cut := r.lo + sort.Search(r.hi-r.lo, func(k int) bool { return r.time(r.lo+k) >= mid })
		if cut > r.lo {
			early = append(early, run{c: r.c, lo: r.lo, hi: cut})
		}
		if cut < r.hi {
			late = append(late, run{c: r.c, lo: cut, hi: r.hi})
		}
	}
	return early, late
}

// sort packs the rows and merges neighbouring runs pairwise until one is left.
func (m *merger) sort(runs []run, l layout, total int) []uint64 {
	m.a, m.b = grown(m.a, total), grown(m.b, total)
	src, dst := m.a, m.b
	ends := m.ends[:0]
	n := 0
	for k, r := range runs {
		t := r.c.batch.Time
		if r.c.order == nil {
			for i, at := range t[r.lo:r.hi] {
				src[n+i] = l.word(at, k)
			}
		} else {
			for i, row := range r.c.order[r.lo:r.hi] {
				src[n+i] = l.word(t[row], k)
			}
		}
		n += r.hi - r.lo
		ends = append(ends, n)
	}
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

func grown(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n, n+n/2)
	}
	return s[:n]
}

// remaps returns, for every binary column and run, the table from the run's codes to the union's.
func (m *merger) remaps(runs []run) [][][]uint32 {
	out := make([][][]uint32, len(m.cols))
	for c, u := range m.dicts {
		if u == nil {
			continue
		}
		u.trim()
		out[c] = make([][]uint32, len(runs))
		for k, r := range runs {
			if d := r.c.batch.Cols[c].Dict; d != nil {
				out[c][k] = u.table(d)
			}
		}
	}
	return out
}
