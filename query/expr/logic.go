package expr

import "fednode/query/tuple"

// logicKernel is AND or OR in three-valued logic. The right side is computed only for rows that the left does not decide,
// so that `d <> 0 and n / d > 3` divides by no zero; where nothing is counted and all rows are wanted, it is computed
// for all, which is faster.
type logicKernel struct {
	and    bool
	l, r   kernel
	quiet  bool // the right side counts nothing
	out    vec
	sub    frame
	rows   []uint32 // column rows that the left does not decide
	pos    []uint32 // their positions in the frame
	picked []uint32
	more   []uint32
}

func (e *Eval) buildLogic(p *plan, out vec) kernel {
	return &logicKernel{and: p.op == opAnd, l: e.build(p.args[0]), r: e.build(p.args[1]), quiet: !p.args[1].counts, out: out}
}

func (k *logicKernel) eval(f *frame) *tuple.Column {
	l := k.l.eval(f)
	if k.quiet {
		k.combine(l, k.r.eval(f), f.n)
		return &k.out.Column
	}
	k.undecided(l, f)
	if len(k.rows) == 0 {
		return l
	}
	if len(k.rows) == f.n {
		k.combine(l, k.r.eval(f), f.n)
		return &k.out.Column
	}
	k.sub = f.narrowed(k.rows)
	k.scatter(l, k.r.eval(&k.sub), f.n)
	return &k.out.Column
}

// undecided lists the rows where the left is not false (AND), or not true (OR).
func (k *logicKernel) undecided(l *tuple.Column, f *frame) {
	k.rows, k.pos = growTo(k.rows, f.n), growTo(k.pos, f.n)
	n := 0
	for i := range f.n {
		k.rows[n], k.pos[n] = f.row(i), uint32(i)
		n += bit(l.Bool[i] == k.and || l.Valid != nil && !l.Valid[i])
	}
	k.rows, k.pos = k.rows[:n], k.pos[:n]
}

// combine computes l AND r, or l OR r, row by row.
func (k *logicKernel) combine(l, r *tuple.Column, n int) {
	out := k.out.asBool(n)
	a, b := l.Bool[:n], r.Bool[:n]
	if l.Valid == nil && r.Valid == nil {
		k.out.Valid = nil
		if k.and {
			for i := range out {
				out[i] = a[i] && b[i]
			}
			return
		}
		for i := range out {
			out[i] = a[i] || b[i]
		}
		return
	}
	k.out.valid = growTo(k.out.valid, n)
	k.out.Valid = k.out.valid
	for i := range out {
		out[i], k.out.valid[i] = k.three(l, i, r, i)
	}
}

func (k *logicKernel) scatter(l, r *tuple.Column, n int) {
	out := k.out.asBool(n)
	copy(out, l.Bool[:n])
	if l.Valid == nil && r.Valid == nil {
		k.out.Valid = nil
		for i, p := range k.pos {
			out[p] = r.Bool[i]
		}
		return
	}
	k.out.valid = growTo(k.out.valid, n)
	k.out.Valid = k.out.valid
	for i := range out {
		k.out.valid[i] = l.Valid == nil || l.Valid[i]
	}
	for i, p := range k.pos {
		out[p], k.out.valid[p] = k.three(l, int(p), r, i)
	}
}

// three computes one row: the value and whether it is known.
func (k *logicKernel) three(l *tuple.Column, i int, r *tuple.Column, j int) (value, known bool) {
	lk, rk := l.Valid == nil || l.Valid[i], r.Valid == nil || r.Valid[j]
	decides := !k.and // the value that decides whatever the other is
	if lk && l.Bool[i] == decides || rk && r.Bool[j] == decides {
		return decides, true
	}
	return k.and, lk && rk
}

func (k *logicKernel) selectTrue(f *frame, dst []uint32) []uint32 {
	if !k.and && k.quiet {
		return pickTrue(k.eval(f), f, dst)
	}
	k.picked = selectTrue(k.l, f, k.picked[:0])
	if k.and {
		if len(k.picked) == 0 {
			return dst
		}
		k.sub = f.narrowed(k.picked)
		return selectTrue(k.r, &k.sub, dst)
	}
	k.rest(f)
	if len(k.rows) == 0 {
		return append(dst, k.picked...)
	}
	k.sub = f.narrowed(k.rows)
	k.more = selectTrue(k.r, &k.sub, k.more[:0])
	return k.interleave(f, dst)
}

// rest lists the rows of f that were not picked; the picked ones are in f's order.
func (k *logicKernel) rest(f *frame) {
	k.rows = k.rows[:0]
	j := 0
	for i := range f.n {
		r := f.row(i)
		if j < len(k.picked) && k.picked[j] == r {
			j++
			continue
		}
		k.rows = append(k.rows, r)
	}
}

// interleave appends what either side picked, in f's order.
func (k *logicKernel) interleave(f *frame, dst []uint32) []uint32 {
	a, b := 0, 0
	for i := range f.n {
		r := f.row(i)
		switch {
		case a < len(k.picked) && k.picked[a] == r:
			a++
		case b < len(k.more) && k.more[b] == r:
			b++
		default:
			continue
		}
		dst = append(dst, r)
	}
	return dst
}

type notKernel struct {
	arg kernel
	out vec
}

func (k *notKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	for i, v := range a.Bool[:f.n] {
		out[i] = !v
	}
	k.out.Valid = a.Valid
	return &k.out.Column
}

type isNullKernel struct {
	arg kernel
	not bool
	out vec
}

func (k *isNullKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	if a.Valid == nil {
		fill(out, k.not)
		return &k.out.Column
	}
	for i, v := range a.Valid[:f.n] {
		out[i] = v == k.not
	}
	return &k.out.Column
}

// isBoolKernel is IS [NOT] TRUE and FALSE, never null.
type isBoolKernel struct {
	arg  kernel
	want bool
	not  bool
	out  vec
}

func (k *isBoolKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	for i, v := range a.Bool[:f.n] {
		out[i] = (v == k.want && (a.Valid == nil || a.Valid[i])) != k.not
	}
	return &k.out.Column
}
