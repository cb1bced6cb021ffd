package op

import "fednode/query/tuple"

// recoder writes binary values of any dictionaries as codes of one dictionary of its own. What a code of another
// dictionary means is looked up once and remembered per lineage, so a row costs an array access.
type recoder struct {
	dict  *tuple.DictBuilder
	known [8]lineageCodes
	next  int // the entry of known to give up next
}

// lineageCodes maps the codes of one lineage: own code + 1, or 0 while not looked up.
type lineageCodes struct {
	line *tuple.Lineage
	own  []uint32
}

func newRecoder() *recoder { return &recoder{dict: tuple.NewDictBuilder()} }

// reset starts a new dictionary if the present one has grown full, and reports whether it did.
func (r *recoder) reset() bool {
	if !r.dict.Full() {
		return false
	}
	r.dict.Reset()
	r.known = [8]lineageCodes{}
	return true
}

// append adds the codes of rows of src to dst; nil rows means all. Nulls get code 0.
func (r *recoder) append(dst []uint32, src *tuple.Column, rows []uint32) []uint32 {
	distinct := src.Dict != nil && src.Dict.Distinct()
	var own []uint32
	if distinct {
		own = r.codesOf(src.Dict)
	}
	if rows == nil {
		for i := range src.Code {
			dst = append(dst, r.code(own, src, i))
		}
		return dst
	}
	for _, i := range rows {
		dst = append(dst, r.code(own, src, int(i)))
	}
	return dst
}

// appendRuns adds the codes of column j of every run to dst.
func (r *recoder) appendRuns(dst []uint32, j int, runs []rowRun) []uint32 {
	var last *tuple.Dict
	var own []uint32
	for k := range runs {
		run := &runs[k]
		c := &run.b.Cols[j]
		if c.Dict != last {
			if last, own = c.Dict, nil; last != nil && last.Distinct() {
				own = r.codesOf(last)
			}
		}
		for i := run.lo; i < run.hi; i++ {
			dst = append(dst, r.code(own, c, i))
		}
	}
	return dst
}

func (r *recoder) code(own []uint32, src *tuple.Column, i int) uint32 {
	if src.Valid != nil && !src.Valid[i] {
		return 0
	}
	c := src.Code[i]
	if own == nil {
		return r.dict.Intern(src.Dict.At(c))
	}
	if own[c] == 0 {
		own[c] = r.dict.Intern(src.Dict.At(c)) + 1
	}
	return own[c] - 1
}

func (r *recoder) codesOf(d *tuple.Dict) []uint32 {
	for i := range r.known {
		k := &r.known[i]
		if k.line != d.Lineage() {
			continue
		}
		if n := d.Len() - len(k.own); n > 0 {
			k.own = append(k.own, make([]uint32, n)...)
		}
		return k.own
	}
	k := &r.known[r.next]
	r.next = (r.next + 1) % len(r.known)
	*k = lineageCodes{line: d.Lineage(), own: make([]uint32, d.Len())}
	return k.own
}
