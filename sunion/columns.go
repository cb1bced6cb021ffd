package sunion

import "fednode/query/tuple"

// stage lays the rows of the runs end to end, column by column, so that the merged order is one selection of them.
// What lies in order is copied as it lies; the codes of binary columns become those of the union's dictionary.
func (m *merger) stage(runs []run) {
	for c := range m.staged {
		dst := &m.staged[c]
		dst.Reset(m.schema.Field(c).Type)
		if u := m.dicts[c]; u != nil {
			u.trim()
			for _, r := range runs {
				u.stage(dst, r, c)
			}
			dst.Dict = u.builder.Dict()
			continue
		}
		for _, r := range runs {
			r.stage(dst, r.c.batch.Cols[c])
		}
	}
}

// stage appends the rows of the run in src, a column of its batch.
func (r run) stage(dst *tuple.Column, src tuple.Column) {
	if r.c.order != nil {
		src.Gather(dst, r.c.order[r.lo:r.hi])
		return
	}
	src = src.Slice(r.lo, r.hi)
	src.Gather(dst, nil)
}

// stage appends the rows of a run in binary column c, in the union's codes. A null row's code may lie outside its
// dictionary; a column of nulls may have none.
func (u *unified) stage(dst *tuple.Column, r run, c int) {
	src := r.c.batch.Cols[c]
	var table []uint32
	if src.Dict != nil {
		table = u.table(src.Dict)
	}
	src.Dict = nil // codes only: dst gets its dictionary when all are known
	n := len(dst.Code)
	r.stage(dst, src)
	codes := dst.Code[n:]
	for i, code := range codes {
		if int(code) < len(table) {
			codes[i] = table[code]
		}
	}
}

// build copies the rows of a stretch of the order into the merger's own batch.
func (m *merger) build(l layout, order []uint64) *tuple.Batch {
	m.times, m.sel = sized(m.times, len(order)), sized(m.sel, len(order))
	l.unpack(order, m.times, m.sel)
	for c := range m.cols {
		m.cols[c].Reset(m.schema.Field(c).Type)
		m.staged[c].Gather(&m.cols[c], m.sel)
	}
	return &tuple.Batch{Schema: m.schema, Time: m.times, Cols: m.cols, Ordered: true}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
