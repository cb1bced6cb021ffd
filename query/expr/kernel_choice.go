package expr

import "fednode/query/tuple"

// caseKernel computes each condition only for the rows that no earlier one took, and each result only for its rows.
type caseKernel struct {
	base    kernel // of CASE x WHEN value; nil otherwise
	conds   []kernel
	classes []cmpClass
	results []kernel // one more than conds if there is an ELSE
	merge   merger
	baseAt  vec    // base for the rows that are left
	equal   []bool // base equals the value
	sub     frame
	rows    []uint32
	pos     []uint32
	hit     []uint32
	hitPos  []uint32
}

func (e *Eval) buildCase(p *plan, out vec) kernel {
	k := &caseKernel{merge: merger{out: out, sink: newSink(p.typ, e)}}
	if p.base != nil {
		k.base = e.build(p.base)
	}
	for i := 0; i < len(p.args); i += 2 {
		k.conds = append(k.conds, e.build(p.args[i]))
		k.results = append(k.results, e.build(p.args[i+1]))
		if p.base != nil {
			k.classes = append(k.classes, classOf(p.base.typ, p.args[i].typ))
		}
	}
	if p.other != nil {
		k.results = append(k.results, e.build(p.other))
	}
	return k
}

func (k *caseKernel) eval(f *frame) *tuple.Column {
	k.merge.begin(f.n, len(k.results))
	k.rows, k.pos = growTo(k.rows, f.n), growTo(k.pos, f.n)
	for i := range f.n {
		k.rows[i], k.pos[i] = f.row(i), uint32(i)
	}
	var base *tuple.Column
	if k.base != nil {
		base = k.base.eval(f)
	}
	for j := range k.conds {
		if len(k.rows) == 0 {
			return k.merge.done()
		}
		k.sub = f.narrowed(k.rows)
		k.split(k.condition(j, base))
		k.take(f, j, k.hit, k.hitPos)
	}
	if len(k.results) > len(k.conds) {
		k.take(f, len(k.conds), k.rows, k.pos)
	}
	return k.merge.done()
}

// take computes the j-th result for some rows.
func (k *caseKernel) take(f *frame, j int, rows, pos []uint32) {
	if len(rows) > 0 {
		k.sub = f.narrowed(rows)
		k.merge.put(j, k.results[j].eval(&k.sub), pos)
	}
}

// condition returns the j-th condition for the rows that are left.
func (k *caseKernel) condition(j int, base *tuple.Column) (holds, valid []bool, valid2 []bool) {
	c := k.conds[j].eval(&k.sub)
	if base == nil {
		return c.Bool, c.Valid, nil
	}
	k.baseAt.Type = base.Type
	left := k.baseAt.gather(base, k.pos)
	k.equal = growTo(k.equal, len(k.pos))
	compareColumns(k.equal, left, c, cmpEq, k.classes[j])
	return k.equal, left.Valid, c.Valid
}

// split moves the rows for which the condition is true to hit and keeps the others.
func (k *caseKernel) split(holds, valid, valid2 []bool) {
	n := len(k.rows)
	k.hit, k.hitPos = growTo(k.hit, n), growTo(k.hitPos, n)
	taken, left := 0, 0
	for i := range n {
		r, p := k.rows[i], k.pos[i]
		yes := bit(holds[i] && (valid == nil || valid[i]) && (valid2 == nil || valid2[i]))
		k.hit[taken], k.hitPos[taken] = r, p
		taken += yes
		k.rows[left], k.pos[left] = r, p
		left += 1 - yes
	}
	k.hit, k.hitPos = k.hit[:taken], k.hitPos[:taken]
	k.rows, k.pos = k.rows[:left], k.pos[:left]
}

// coalesceKernel computes each argument only for the rows where all earlier ones are null.
type coalesceKernel struct {
	args  []kernel
	merge merger
	sub   frame
	rows  []uint32
	pos   []uint32
}

func (k *coalesceKernel) eval(f *frame) *tuple.Column {
	first := k.args[0].eval(f)
	if first.Valid == nil {
		return first
	}
	k.merge.begin(f.n, len(k.args))
	k.rows, k.pos = growTo(k.rows, f.n), growTo(k.pos, f.n)
	for i := range f.n {
		k.rows[i], k.pos[i] = f.row(i), uint32(i)
	}
	k.merge.put(0, first, k.pos)
	k.keepNull(first.Valid)
	for j := 1; j < len(k.args) && len(k.rows) > 0; j++ {
		k.sub = f.narrowed(k.rows)
		c := k.args[j].eval(&k.sub)
		k.merge.put(j, c, k.pos)
		if c.Valid == nil {
			break
		}
		k.keepNull(c.Valid)
	}
	return k.merge.done()
}

func (k *coalesceKernel) keepNull(valid []bool) {
	n := 0
	for i, ok := range valid[:len(k.rows)] {
		k.rows[n], k.pos[n] = k.rows[i], k.pos[i]
		n += bit(!ok)
	}
	k.rows, k.pos = k.rows[:n], k.pos[:n]
}

// nullIfKernel is its first argument with nulls where it equals the second.
type nullIfKernel struct {
	a, b  kernel
	class cmpClass
	equal []bool
	out   vec
}

func (k *nullIfKernel) eval(f *frame) *tuple.Column {
	a, b := k.a.eval(f), k.b.eval(f)
	k.equal = growTo(k.equal, f.n)
	compareColumns(k.equal, a, b, cmpEq, k.class)
	k.out.Column = *a
	valid := k.out.ownValid(f.n)
	for i, eq := range k.equal {
		valid[i] = valid[i] && !(eq && (b.Valid == nil || b.Valid[i]))
	}
	return &k.out.Column
}
