package sunion

import "fednode/query/tuple"

// merger merges runs that are each in order into one sequence of batches. It keeps its buffers, and one dictionary a
// binary column into which the codes of all inputs are mapped, so that what follows sees one dictionary.
type merger struct {
	schema *tuple.Schema
	a, b   []entry
	cols   []tuple.Column
	times  []tuple.Time
	dicts  []*unified // nil for columns that are not binary
}

// entry is one row on its way through the merge: its stime, and where it is.
type entry struct {
	time tuple.Time
	run  uint32
	row  uint32
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
	order := m.sort(runs)
	remaps := m.remaps(runs)
	for lo := 0; lo < len(order); lo += maxRows {
		if err := out(m.build(runs, remaps, order[lo:min(lo+maxRows, len(order))])); err != nil {
			return err
		}
	}
	return nil
}

// sort merges neighbouring runs pairwise until one is left. Runs stand in order of (input, id), and a merge prefers its
// left side, so equal times keep that order.
func (m *merger) sort(runs []run) []entry {
	total := 0
	for _, r := range runs {
		total += r.hi - r.lo
	}
	m.a, m.b = grown(m.a, total), grown(m.b, total)
	src, dst := m.a, m.b
	ends := make([]int, 0, len(runs))
	n := 0
	for k, r := range runs {
		t := r.c.batch.Time
		if r.c.order == nil {
			for row := r.lo; row < r.hi; row++ {
				src[n] = entry{time: t[row], run: uint32(k), row: uint32(row)}
				n++
			}
		} else {
			for _, row := range r.c.order[r.lo:r.hi] {
				src[n] = entry{time: t[row], run: uint32(k), row: row}
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
	return src
}

// mergeTwo merges x and y into dst, x first among equals. The choice is arithmetic, not a branch: on interleaved inputs
// a branch would be mispredicted every other row.
func mergeTwo(dst, x, y []entry) {
	if len(x) == 0 || len(y) == 0 || x[len(x)-1].time <= y[0].time {
		copy(dst, x)
		copy(dst[len(x):], y)
		return
	}
	i, j, k := 0, 0, 0
	for i < len(x) && j < len(y) {
		ex, ey := x[i], y[j]
		takeY := 0
		if ey.time < ex.time {
			takeY = 1
		}
		e := ex
		if takeY == 1 {
			e = ey
		}
		dst[k] = e
		k++
		j += takeY
		i += 1 - takeY
	}
	copy(dst[k:], x[i:])
	copy(dst[k+len(x)-i:], y[j:])
}

func grown(s []entry, n int) []entry {
	if cap(s) < n {
		return make([]entry, n, n+n/2)
	}
	return s[:n]
}

// build gathers the rows of a stretch of the order into the merger's own columns.
func (m *merger) build(runs []run, remaps [][][]uint32, order []entry) *tuple.Batch {
	m.times = m.times[:0]
	for _, e := range order {
		m.times = append(m.times, e.time)
	}
	for c := range m.cols {
		m.column(c, runs, remaps[c], order)
	}
	return &tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols}
}

func (m *merger) column(c int, runs []run, remap [][]uint32, order []entry) {
	dst := &m.cols[c]
	t := m.schema.Field(c).Type
	dst.Reset(t)
	switch k := t.Kind; {
	case k == tuple.Bool:
		dst.Bool = collect(dst.Bool, runs, order, c, func(s *tuple.Column) []bool { return s.Bool })
	case k.IsInt():
		dst.Int = collect(dst.Int, runs, order, c, func(s *tuple.Column) []int64 { return s.Int })
	case k == tuple.Float64:
		dst.Float = collect(dst.Float, runs, order, c, func(s *tuple.Column) []float64 { return s.Float })
	case k.IsBinary():
		dst.Dict = m.dicts[c].builder.Dict()
		for _, e := range order {
			code := runs[e.run].c.batch.Cols[c].Code[e.row]
			if r := remap[e.run]; int(code) < len(r) {
				code = r[code]
			}
			dst.Code = append(dst.Code, code)
		}
	case k == tuple.List:
		m.lists(dst, runs, order, c)
		return
	}
	m.validity(dst, runs, order, c)
}

// collect gathers one kind of slice; the sources are looked up once a run, not once a row.
func collect[T any](dst []T, runs []run, order []entry, c int, get func(*tuple.Column) []T) []T {
	var few [16][]T
	src := few[:0]
	for _, r := range runs {
		src = append(src, get(&r.c.batch.Cols[c]))
	}
	for _, e := range order {
		dst = append(dst, src[e.run][e.row])
	}
	return dst
}

func (m *merger) validity(dst *tuple.Column, runs []run, order []entry, c int) {
	any := false
	for _, r := range runs {
		any = any || r.c.batch.Cols[c].Valid != nil
	}
	if !any {
		return
	}
	dst.Valid = make([]bool, len(order))
	for k, e := range order {
		dst.Valid[k] = !runs[e.run].c.batch.Cols[c].IsNull(int(e.row))
	}
}

// lists copies list rows one by one; lists are rare and short.
func (m *merger) lists(dst *tuple.Column, runs []run, order []entry, c int) {
	for _, e := range order {
		runs[e.run].c.batch.Cols[c].Gather(dst, []uint32{e.row})
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
