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
func (l layout) run(w uint64) int { return int(w & (1<<(l.runBits&63) - 1)) }

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
	m.places.start(runs)
	for lo := 0; lo < len(order); lo += maxRows {
		m.places.next(l, order[lo:min(lo+maxRows, len(order))])
		if err := out(m.build(runs, remaps)); err != nil {
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

// mergeTwo merges x and y into dst. The choice between two heads is arithmetic, not a branch: on interleaved inputs a
// branch would be mispredicted every other row. The merge works from both ends at once, two chains of choices that do
// not wait for each other, for as many steps as neither side can run out in.
func mergeTwo(dst, x, y []uint64) {
	if len(x) == 0 || len(y) == 0 || x[len(x)-1] <= y[0] {
		copy(dst, x)
		copy(dst[len(x):], y)
		return
	}
	i, j, k := 0, 0, 0
	p, q, e := len(x)-1, len(y)-1, len(dst)-1
	for range min(len(x), len(y)) {
		wx, wy := x[i], y[j]
		fromX := 0
		if wx <= wy {
			fromX = 1
		}
		dst[k] = min(wx, wy)
		k++
		i += fromX
		j += 1 - fromX

		vx, vy := x[p], y[q]
		fromX = 0
		if vx > vy {
			fromX = 1
		}
		dst[e] = max(vx, vy)
		e--
		p -= fromX
		q -= 1 - fromX
	}
	for i <= p && j <= q {
		if x[i] <= y[j] {
			dst[k] = x[i]
			i++
		} else {
			dst[k] = y[j]
			j++
		}
		k++
	}
	k += copy(dst[k:], x[i:p+1])
	copy(dst[k:], y[j:q+1])
}

func grown(s []uint64, n int) []uint64 {
	if cap(s) < n {
		return make([]uint64, n, n+n/2)
	}
	return s[:n]
}

// places knows, for a stretch of the merged order, where the rows of each run go. Rows are then copied run by run:
// reading in sequence, and with what depends on the run looked up once.
type places struct {
	rows int      // of the stretch
	at   []uint32 // places in the stretch, run by run
	end  []int    // of run k in at: at[end[k-1]:end[k]]
	from []int    // entry of run k that comes first in the stretch
	cur  []int
}

// start begins at the first entry of every run.
func (p *places) start(runs []run) {
	p.end, p.from, p.cur = p.end[:0], p.from[:0], p.cur[:0]
	for _, r := range runs {
		p.from = append(p.from, r.lo)
	}
	p.end = append(p.end, make([]int, len(runs))...)
	p.cur = append(p.cur, make([]int, len(runs))...)
}

// next takes the following stretch of the order.
func (p *places) next(l layout, order []uint64) {
	for k := range p.from {
		p.from[k] += p.end[k] - p.start0(k)
	}
	clear(p.cur)
	for _, w := range order {
		p.cur[l.run(w)]++
	}
	sum := 0
	for k, n := range p.cur {
		p.cur[k] = sum
		sum += n
		p.end[k] = sum
	}
	p.rows = len(order)
	p.at = append(p.at[:0], make([]uint32, len(order))...)
	at, cur := p.at, p.cur
	for i, w := range order {
		r := l.run(w)
		n := cur[r]
		at[n] = uint32(i)
		cur[r] = n + 1
	}
}

func (p *places) start0(k int) int {
	if k == 0 {
		return 0
	}
	return p.end[k-1]
}

// of returns the places of run k's rows and the entry of the run that the first of them is.
func (p *places) of(k int) (at []uint32, from int) { return p.at[p.start0(k):p.end[k]], p.from[k] }

// build copies the rows of the stretch into the merger's own columns.
func (m *merger) build(runs []run, remaps [][][]uint32) *tuple.Batch {
	m.times = sized(m.times, m.places.rows)
	for k := range runs {
		at, from := m.places.of(k)
		scatter(m.times, at, runs[k].c.batch.Time, runs[k].c.order, from)
	}
	for c := range m.cols {
		m.column(c, runs, remaps[c])
	}
	return &tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols}
}

// column copies one column of the stretch.
func (m *merger) column(c int, runs []run, remap [][]uint32) {
	dst := &m.cols[c]
	t := m.schema.Field(c).Type
	if t.Kind == tuple.List {
		m.lists(dst, runs, c)
		return
	}
	n := m.places.rows
	*dst = tuple.Column{Type: t, Bool: dst.Bool, Int: dst.Int, Float: dst.Float, Code: dst.Code}
	switch k := t.Kind; {
	case k == tuple.Bool:
		dst.Bool = sized(dst.Bool, n)
	case k.IsInt():
		dst.Int = sized(dst.Int, n)
	case k == tuple.Float64:
		dst.Float = sized(dst.Float, n)
	case k.IsBinary():
		dst.Code, dst.Dict = sized(dst.Code, n), m.dicts[c].builder.Dict()
	}
	for k := range runs {
		at, from := m.places.of(k)
		if len(at) == 0 {
			continue
		}
		src, order := &runs[k].c.batch.Cols[c], runs[k].c.order
		switch k2 := t.Kind; {
		case k2 == tuple.Bool:
			scatter(dst.Bool, at, src.Bool, order, from)
		case k2.IsInt():
			scatter(dst.Int, at, src.Int, order, from)
		case k2 == tuple.Float64:
			scatter(dst.Float, at, src.Float, order, from)
		case k2.IsBinary():
			scatterCodes(dst.Code, at, src.Code, order, from, remap[k])
		}
		m.validity(dst, src, at, order, from)
	}
}

// scatter copies the entries of a run that begin at from to their places.
func scatter[T any](dst []T, at []uint32, src []T, order []uint32, from int) {
	if order != nil {
		for i, row := range order[from : from+len(at)] {
			dst[at[i]] = src[row]
		}
		return
	}
	for i, v := range src[from : from+len(at)] {
		dst[at[i]] = v
	}
}

// scatterCodes is scatter through the table to the union's codes. A null row's code may lie outside its dictionary.
func scatterCodes(dst, at, src, order []uint32, from int, table []uint32) {
	for i := range at {
		row := from + i
		if order != nil {
			row = int(order[row])
		}
		code := src[row]
		if int(code) < len(table) {
			code = table[code]
		}
		dst[at[i]] = code
	}
}

func (m *merger) validity(dst, src *tuple.Column, at, order []uint32, from int) {
	if src.Valid == nil {
		return
	}
	if dst.Valid == nil {
		dst.Valid = make([]bool, m.places.rows)
		for i := range dst.Valid {
			dst.Valid[i] = true
		}
	}
	scatter(dst.Valid, at, src.Valid, order, from)
}

// lists copies list rows one by one, in order; lists are rare and short.
func (m *merger) lists(dst *tuple.Column, runs []run, c int) {
	dst.Reset(m.schema.Field(c).Type)
	type ref struct{ run, row int }
	refs := make([]ref, m.places.rows)
	for k := range runs {
		at, from := m.places.of(k)
		for i, place := range at {
			refs[place] = ref{k, runs[k].c.row(from + i)}
		}
	}
	for _, r := range refs {
		runs[r.run].c.batch.Cols[c].Gather(dst, []uint32{uint32(r.row)})
	}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
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
