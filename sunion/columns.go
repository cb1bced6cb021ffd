package sunion

import "fednode/query/tuple"

// stage lays the rows of the piece end to end and notes where sequences in order end: a run that goes on in time where
// the one before it ended, as the batches of an input in order do, is of the same sequence. What lies in order is copied
// as it lies; the codes of binary columns become those of the union's dictionary.
func (m *merger) stage() {
	m.times, m.ends = m.times[:0], m.ends[:0]
	for _, r := range m.piece {
		n := len(m.times)
		m.times = r.stageTimes(m.times)
		if n > 0 && m.times[n-1] <= m.times[n] {
			m.ends = m.ends[:len(m.ends)-1]
		}
		m.ends = append(m.ends, len(m.times))
	}
	for c := range m.cols {
		dst := &m.cols[c]
		dst.Reset(m.schema.Field(c).Type)
		if u := m.dicts[c]; u != nil {
			u.stage(dst, m.piece, c)
			continue
		}
		for _, r := range m.piece {
			r.stage(dst, r.c.batch.Cols[c])
		}
	}
}

func (r run) stageTimes(dst []tuple.Time) []tuple.Time {
	times := r.c.batch.Time
	if r.c.order == nil {
		return append(dst, times[r.lo:r.hi]...)
	}
	for _, row := range r.c.order[r.lo:r.hi] {
		dst = append(dst, times[row])
	}
	return dst
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

// stage appends the rows of the runs in binary column c, in the union's codes. A null row's code may lie outside its
// dictionary; a column of nulls may have none.
func (u *unified) stage(dst *tuple.Column, runs []run, c int) {
	u.trim()
	for _, r := range runs {
		src, n := r.c.batch.Cols[c], len(dst.Code)
		var table []uint32
		if src.Dict != nil {
			table = u.table(src.Dict)
		}
		src.Dict = nil // codes only: the dictionary follows when it is complete
		r.stage(dst, src)
		recode(dst.Code[n:], table)
	}
	dst.Dict = u.builder.Dict()
}

func recode(codes, table []uint32) {
	for i, code := range codes {
		if int(code) < len(table) {
			codes[i] = table[code]
		}
	}
}

func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
