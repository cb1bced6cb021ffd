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
	cols   []tuple.Column
	times  []tuple.Time
	dicts  []*unified // nil for columns that are not binary
}

// layout says how one row on its way through the merge is packed into a word: stime above the base, then the run, then
// the row in its chunk. Words of one release are distinct and their order is the union's order, so a merge compares and
// moves single words.
type layout struct {
	base    tuple.Time
	runBits uint
	rowBits uint
}

// The masks of the shifts tell the compiler that they stay below 64, which saves it a test a row.
func (l layout) time(w uint64) tuple.Time { return l.base + tuple.Time(w>>((l.runBits+l.rowBits)&63)) }
func (l layout) run(w uint64) int         { return int(w >> (l.rowBits & 63) & (1<<(l.runBits&63) - 1)) }
func (l layout) row(w uint64) int         { return int(w & (1<<(l.rowBits&63) - 1)) }

// maxSort is how many rows are merged at once: more would leave the cache, and memory for the words would grow with the
// input.
const maxSort = 1 << 20

// plan returns the layout for a release, or ok = false if its words would not fit or be too many; then the release is
// split by time, which ends because rows of one stime need no bits for it.
func plan(runs []run) (l layout, total int, ok bool) {
	low, high, rows := tuple.MaxTime, tuple.MinTime, 0
	for _, r := range runs {
		low, high = min(low, r.time(r.lo)), max(high, r.time(r.hi-1))
		rows = max(rows, len(r.c.batch.Time))
		total += r.hi - r.lo
	}
	l = layout{base: low, runBits: uint(bits.Len(uint(len(runs) - 1))), rowBits: uint(bits.Len(uint(rows - 1)))}
	span := uint64(high) - uint64(low)
	fits := uint(bits.Len64(span))+l.runBits+l.rowBits <= 64
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
		tag := uint64(k) << l.rowBits
		shift := l.runBits + l.rowBits
		if r.c.order == nil {
			for row := r.lo; row < r.hi; row++ {
				src[n] = uint64(t[row]-l.base)<<shift | tag | uint64(row)
				n++
			}
		} else {
			for _, row := range r.c.order[r.lo:r.hi] {
				src[n] = uint64(t[row]-l.base)<<shift | tag | uint64(row)
				n++
			}
		}
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

// mergeTwo merges x and y into dst. The choice is arithmetic, not a branch: on interleaved inputs a branch would be
// mispredicted every other row.
func mergeTwo(dst, x, y []uint64) {
	if len(x) == 0 || len(y) == 0 || x[len(x)-1] < y[0] {
		copy(dst, x)
		copy(dst[len(x):], y)
		return
	}
	i, j, k := 0, 0, 0
	for i < len(x) && j < len(y) && k < len(dst) {
		wx, wy := x[i], y[j]
		takeX := 0
		if wx < wy {
			takeX = 1
		}
		dst[k] = min(wx, wy)
		k++
		i += takeX
		j += 1 - takeX
	}
	copy(dst[k:], x[i:])
	copy(dst[k+len(x)-i:], y[j:])
}

func grown(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n, n+n/2)
	}
	return s[:n]
}

// build gathers the rows of a stretch of the order into the merger's own columns.
func (m *merger) build(runs []run, remaps [][][]uint32, l layout, order []uint64) *tuple.Batch {
	m.times = m.times[:0]
	for _, w := range order {
		m.times = append(m.times, l.time(w))
	}
	for c := range m.cols {
		m.column(c, runs, remaps[c], l, order)
	}
	return &tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols}
}

func (m *merger) column(c int, runs []run, remap [][]uint32, l layout, order []uint64) {
	dst := &m.cols[c]
	t := m.schema.Field(c).Type
	dst.Reset(t)
	switch k := t.Kind; {
	case k == tuple.Bool:
		dst.Bool = collect(dst.Bool, runs, l, order, c, func(s *tuple.Column) []bool { return s.Bool })
	case k.IsInt():
		dst.Int = collect(dst.Int, runs, l, order, c, func(s *tuple.Column) []int64 { return s.Int })
	case k == tuple.Float64:
		dst.Float = collect(dst.Float, runs, l, order, c, func(s *tuple.Column) []float64 { return s.Float })
	case k.IsBinary():
		dst.Dict = m.dicts[c].builder.Dict()
		dst.Code = collect(dst.Code, runs, l, order, c, func(s *tuple.Column) []uint32 { return s.Code })
		recode(dst.Code, remap, l, order)
	case k == tuple.List:
		m.lists(dst, runs, l, order, c)
		return
	}
	m.validity(dst, runs, l, order, c)
}

// collect gathers one kind of slice; the sources are looked up once a run, not once a row.
func collect[T any](dst []T, runs []run, l layout, order []uint64, c int, get func(*tuple.Column) []T) []T {
	var few [16][]T
	src := few[:0]
	for _, r := range runs {
		src = append(src, get(&r.c.batch.Cols[c]))
	}
	for _, w := range order {
		dst = append(dst, src[l.run(w)][l.row(w)])
	}
	return dst
}

// recode maps codes of the runs' dictionaries to the union's. A null row's code may lie outside its dictionary.
func recode(codes []uint32, remap [][]uint32, l layout, order []uint64) {
	for k, w := range order {
		if t := remap[l.run(w)]; int(codes[k]) < len(t) {
			codes[k] = t[codes[k]]
		}
	}
}

func (m *merger) validity(dst *tuple.Column, runs []run, l layout, order []uint64, c int) {
	any := false
	for _, r := range runs {
		any = any || r.c.batch.Cols[c].Valid != nil
	}
	if !any {
		return
	}
	dst.Valid = make([]bool, len(order))
	for k, w := range order {
		dst.Valid[k] = !runs[l.run(w)].c.batch.Cols[c].IsNull(l.row(w))
	}
}

// lists copies list rows one by one; lists are rare and short.
func (m *merger) lists(dst *tuple.Column, runs []run, l layout, order []uint64, c int) {
	for _, w := range order {
		runs[l.run(w)].c.batch.Cols[c].Gather(dst, []uint32{uint32(l.row(w))})
	}
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

// unified is one growing dictionary into which others are mapped; what is known of a dictionary is kept as long as it
// is seen.
type unified struct {
	builder *tuple.DictBuilder
	tables  map[*tuple.Lineage][]uint32
}

func newUnified() *unified {
	return &unified{builder: tuple.NewDictBuilder(), tables: make(map[*tuple.Lineage][]uint32)}
}

// maxTables bounds how many dictionaries are remembered: producers that send plain columns bring a new one a batch.
const maxTables = 64

// trim starts over when the dictionary has grown past its limits or too many dictionaries are remembered.
func (u *unified) trim() {
	if u.builder.Full() {
		u.builder.Reset()
		clear(u.tables)
	}
	if len(u.tables) > maxTables {
		clear(u.tables)
	}
}

// table returns the union's code for each code of d.
func (u *unified) table(d *tuple.Dict) []uint32 {
	t := u.tables[d.Lineage()]
	for code := len(t); code < d.Len(); code++ {
		t = append(t, u.builder.Intern(d.At(uint32(code))))
	}
	u.tables[d.Lineage()] = t
	return t
}
