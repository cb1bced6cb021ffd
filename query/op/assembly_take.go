package op

import "fednode/query/tuple"

// take adds rows of src to column j; nil rows means all.
func (a *assembly) take(j int, src *tuple.Column, rows []uint32) {
	dst := &a.b.Cols[j]
	switch k := src.Type.Kind; {
	case k.IsBinary():
		a.takeBinary(dst, a.recoded[j], src, rows)
	case k == tuple.List:
		a.takeList(dst, a.recoded[j], src, rows)
	default:
		src.Gather(dst, rows)
	}
}

// rowRun is rows [lo, hi) of a dense batch of some port.
type rowRun struct {
	port   int
	b      *tuple.Batch
	lo, hi int
}

// takeRuns adds column j of every run to column j.
func (a *assembly) takeRuns(j int, runs []rowRun) {
	dst := &a.b.Cols[j]
	if dst.Type.Kind == tuple.List {
		for _, r := range runs {
			c := r.b.Cols[j].Slice(r.lo, r.hi)
			a.takeList(dst, a.recoded[j], &c, nil)
		}
		return
	}
	n := dst.Rows()
	switch k := dst.Type.Kind; {
	case k == tuple.Bool:
		for _, r := range runs {
			dst.Bool = append(dst.Bool, r.b.Cols[j].Bool[r.lo:r.hi]...)
		}
	case k.IsInt():
		for i := range runs {
			r := &runs[i]
			if src := r.b.Cols[j].Int; r.hi-r.lo == 1 { // the usual case where inputs alternate, and no call
				dst.Int = append(dst.Int, src[r.lo])
			} else {
				dst.Int = append(dst.Int, src[r.lo:r.hi]...)
			}
		}
	case k == tuple.Float64:
		for _, r := range runs {
			dst.Float = append(dst.Float, r.b.Cols[j].Float[r.lo:r.hi]...)
		}
	default:
		dst.Code = a.recoded[j].appendRuns(dst.Code, j, runs)
	}
	a.runsValid(dst, n, j, runs)
}

// runsValid adds the validity of column j of the runs to dst, which had n rows before them.
func (a *assembly) runsValid(dst *tuple.Column, n, j int, runs []rowRun) {
	some := dst.Valid != nil
	for i := 0; i < len(runs) && !some; i++ {
		some = runs[i].b.Cols[j].Valid != nil
	}
	if !some {
		return
	}
	if dst.Valid == nil {
		dst.Valid = appendTrue(dst.Valid, n)
	}
	for _, r := range runs {
		if v := r.b.Cols[j].Valid; v != nil {
			dst.Valid = append(dst.Valid, v[r.lo:r.hi]...)
		} else {
			dst.Valid = appendTrue(dst.Valid, r.hi-r.lo)
		}
	}
}

func (a *assembly) takeBinary(dst *tuple.Column, r *recoder, src *tuple.Column, rows []uint32) {
	n := len(dst.Code)
	dst.Code = r.append(dst.Code, src, rows)
	takeValid(dst, n, src, rows, len(dst.Code)-n)
}

func (a *assembly) takeList(dst *tuple.Column, r *recoder, src *tuple.Column, rows []uint32) {
	n, added := dst.Rows(), src.Rows()
	if rows != nil {
		added = len(rows)
	}
	a.all = a.all[:0]
	for k := range added {
		i := k
		if rows != nil {
			i = int(rows[k])
		}
		for e := src.Off[i]; e < src.Off[i+1] && !src.IsNull(i); e++ {
			a.all = append(a.all, e)
		}
		dst.Off = append(dst.Off, uint32(dst.Elem.Rows()+len(a.all)))
	}
	takeValid(dst, n, src, rows, added)
	if len(a.all) == 0 {
		return // an empty list of rows must not become nil, which means all
	}
	if r != nil {
		a.takeBinary(dst.Elem, r, src.Elem, a.all)
		return
	}
	src.Elem.Gather(dst.Elem, a.all)
}

// takeValid adds the validity of count rows of src to dst, which had n rows before them.
func takeValid(dst *tuple.Column, n int, src *tuple.Column, rows []uint32, count int) {
	if src.Valid == nil && dst.Valid == nil {
		return
	}
	if dst.Valid == nil {
		dst.Valid = appendTrue(dst.Valid, n)
	}
	switch {
	case src.Valid == nil:
		dst.Valid = appendTrue(dst.Valid, count)
	case rows == nil:
		dst.Valid = append(dst.Valid, src.Valid...)
	default:
		for _, i := range rows {
			dst.Valid = append(dst.Valid, src.Valid[i])
		}
	}
}

func appendTrue(dst []bool, n int) []bool {
	for range n {
		dst = append(dst, true)
	}
	return dst
}
