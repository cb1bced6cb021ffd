package sunion

import "fednode/query/tuple"

// build copies the rows of a stretch of the order into the merger's own columns.
func (m *merger) build(runs []run, remaps [][][]uint32, l layout, order []uint64) *tuple.Batch {
	m.times = sized(m.times, len(order))
	m.places.next(l, order, m.times)
	for c := range m.cols {
		m.column(c, runs, remaps[c])
	}
	return &tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols, Ordered: true}
}

// column copies one column of the stretch.
func (m *merger) column(c int, runs []run, remap [][]uint32) {
	dst := &m.cols[c]
	t := m.schema.Field(c).Type
	if t.Kind == tuple.List {
		m.lists(dst, runs, c)
		return
	}
	n := len(m.times)
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
		switch kind := t.Kind; {
		case kind == tuple.Bool:
			scatter(dst.Bool, at, src.Bool, order, from)
		case kind.IsInt():
			scatter(dst.Int, at, src.Int, order, from)
		case kind == tuple.Float64:
			scatter(dst.Float, at, src.Float, order, from)
		case kind.IsBinary():
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
	src = src[from : from+len(at)]
	for i, place := range at {
		dst[place] = src[i]
	}
}

// scatterCodes is scatter through the table to the union's codes. A null row's code may lie outside its dictionary.
func scatterCodes(dst, at, src, order []uint32, from int, table []uint32) {
	if order != nil {
		for i, row := range order[from : from+len(at)] {
			dst[at[i]] = recoded(table, src[row])
		}
		return
	}
	src = src[from : from+len(at)]
	for i, place := range at {
		dst[place] = recoded(table, src[i])
	}
}

func recoded(table []uint32, code uint32) uint32 {
	if int(code) < len(table) {
		return table[code]
	}
	return code
}

func (m *merger) validity(dst, src *tuple.Column, at, order []uint32, from int) {
	if src.Valid == nil {
		return
	}
	if dst.Valid == nil {
		dst.Valid = make([]bool, len(m.times))
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
	refs := make([]ref, len(m.times))
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
