package expr

import "fednode/query/tuple"

// dictKernel computes an expression of one dictionary column once a code and then only looks results up. What it knows
// about a dictionary it keeps, by lineage, and extends as the dictionary grows.
type dictKernel struct {
	inner kernel
	col   int
	out   vec
	of    *Eval
	known [4]codeResults // several, since a union's batches alternate between dictionaries
	turn  int            // the slot to give up next
	codes tuple.Column   // the codes to compute, as a column
	frame frame
}

// codeResults are the results of the codes of one dictionary: entry 0 is that of a null row, entry code+1 that of code.
type codeResults struct {
	line   *tuple.Lineage
	have   int // codes computed
	credit int // rows computed one by one since: what extending would have saved
	col    tuple.Column
	nulls  bool   // the result of some code is null
	byRow  bool   // computing some code moved the counters: each row must count, so rows are computed
	truth  []bool // for conditions: true and not null
	sink   *sink  // holds as much as the dictionary makes it, so it needs no rotation
	codes  remap
}

// slack is how many codes more than rows are worth computing at once.
const slack = 64

// lookup returns the results that cover the column's dictionary, or nil if computing the rows themselves is cheaper: the
// dictionary is much larger than the batch. Work is bounded by twice the better of the two ways.
func (k *dictKernel) lookup(c *tuple.Column, n int) *codeResults {
	if c.Dict == nil || c.Dict.Len() == 0 {
		return nil
	}
	r := k.slot(c.Dict.Lineage())
	missing := c.Dict.Len() - r.have
	if r.byRow {
		return nil
	}
	if missing <= 0 { // less than 0 where this batch has an older snapshot than one before
		return r
	}
	if missing > n+r.credit+slack {
		r.credit += n
		return nil
	}
	before := k.of.counters
	k.extend(r, c)
	if k.of.counters != before {
		k.of.counters, r.byRow = before, true
		return nil
	}
	return r
}

func (k *dictKernel) slot(line *tuple.Lineage) *codeResults {
	for i := range k.known {
		if k.known[i].line == line {
			return &k.known[i]
		}
	}
	r := &k.known[k.turn]
	k.turn = (k.turn + 1) % len(k.known)
	r.drop()
	r.line, r.sink = line, newSink(k.out.Type, k.of)
	return r
}

func (r *codeResults) drop() {
	if r.sink != nil {
		r.sink.empty()
	}
	r.line, r.have, r.credit, r.nulls, r.byRow = nil, 0, 0, false, false
	r.codes.reset()
	c := &r.col
	c.Bool, c.Int, c.Float, c.Code, c.Valid, r.truth = c.Bool[:0], c.Int[:0], c.Float[:0], c.Code[:0], c.Valid[:0], r.truth[:0]
}

// extend computes the codes that are new, and the null row first of all.
func (k *dictKernel) extend(r *codeResults, c *tuple.Column) {
	from, to := r.have, c.Dict.Len()
	v := &k.codes
	*v = tuple.Column{Type: c.Type, Code: v.Code[:0], Valid: nil, Dict: c.Dict}
	if from == 0 {
		v.Code = append(v.Code, 0)
		v.Valid = make([]bool, to+1)
		fill(v.Valid[1:], true)
	}
	for code := from; code < to; code++ {
		v.Code = append(v.Code, uint32(code))
	}
	k.frame = frame{over: v, n: len(v.Code)}
	r.append(k, k.inner.eval(&k.frame))
	r.have = to
}

func (r *codeResults) append(k *dictKernel, res *tuple.Column) {
	c := &r.col
	c.Type = k.out.Type
	n := res.Rows()
	switch kind := c.Type.Kind; {
	case kind == tuple.Bool:
		c.Bool = append(c.Bool, res.Bool...)
	case kind.IsInt():
		c.Int = append(c.Int, res.Int...)
	case kind == tuple.Float64:
		c.Float = append(c.Float, res.Float...)
	default:
		r.appendBinary(res)
	}
	for i := range n {
		ok := res.Valid == nil || res.Valid[i]
		r.nulls = r.nulls || !ok && len(c.Valid) > 0
		c.Valid = append(c.Valid, ok)
		if c.Type.Kind == tuple.Bool {
			r.truth = append(r.truth, ok && res.Bool[i])
		}
	}
}

func (r *codeResults) appendBinary(res *tuple.Column) {
	r.codes.ready(res.Dict)
	for i, code := range res.Code {
		if res.Valid == nil || res.Valid[i] {
			code = r.codes.code(r.sink, res.Dict, code)
		} else {
			code = 0
		}
		r.col.Code = append(r.col.Code, code)
	}
}

// entries returns for each row of the frame the entry of its result.
func (k *dictKernel) entries(c *tuple.Column, f *frame) []uint32 {
	k.codes.Code = growTo(k.codes.Code, f.n)
	out := k.codes.Code
	switch {
	case f.sel == nil && c.Valid == nil:
		for i, code := range c.Code[:f.n] {
			out[i] = code + 1
		}
	case c.Valid == nil:
		for i, s := range f.sel {
			out[i] = c.Code[s] + 1
		}
	default:
		for i := range f.n {
			s := f.row(i)
			out[i] = (c.Code[s] + 1) * uint32(bit(c.Valid[s]))
		}
	}
	return out
}

func (k *dictKernel) eval(f *frame) *tuple.Column {
	c := f.col(k.col)
	r := k.lookup(c, f.n)
	if r == nil {
		return k.inner.eval(f)
	}
	if r.sink != nil {
		r.col.Dict = r.sink.dict()
	}
	known := r.col
	if c.Valid == nil && !r.nulls {
		known.Valid = nil
	}
	return k.out.gather(&known, k.entries(c, f))
}

func (k *dictKernel) selectTrue(f *frame, dst []uint32) []uint32 {
	c := f.col(k.col)
	r := k.lookup(c, f.n)
	if r == nil {
		return selectTrue(k.inner, f, dst)
	}
	n := len(dst)
	dst = growTo(dst, n+f.n)
	if c.Valid != nil {
		for i, e := range k.entries(c, f) {
			dst[n] = f.row(i)
			n += bit(r.truth[e])
		}
		return dst[:n]
	}
	truth := r.truth[1:]
	if f.sel == nil {
		for i, code := range c.Code[:f.n] {
			dst[n] = uint32(i)
			n += bit(truth[code])
		}
		return dst[:n]
	}
	for _, s := range f.sel {
		dst[n] = s
		n += bit(truth[c.Code[s]])
	}
	return dst[:n]
}
