package expr

import "fednode/query/tuple"

// build makes the kernels of a plan, each with scratch memory of its own.
func (e *Eval) build(p *plan) kernel {
	if !e.inCodes && byCode(p) {
		return e.buildByCode(p)
	}
	return e.buildNode(p)
}

// buildByCode makes the kernel that computes p once a code. Within it nothing is gained by doing so again.
func (e *Eval) buildByCode(p *plan) kernel {
	e.inCodes = true
	inner := e.buildNode(p)
	e.inCodes = false
	return &dictKernel{inner: inner, col: p.cols[0], out: vec{Column: tuple.Column{Type: p.typ}}, of: e}
}

// byCode reports whether a node depends on one dictionary column alone, so that it has one value a code.
func byCode(p *plan) bool {
	if p.op == opIsNull && p.args[0].op == opCol {
		return false // the validity says it
	}
	return p.op != opCol && p.typ.Kind != tuple.List && len(p.cols) == 1 && binaryLeaf(p)
}

func binaryLeaf(p *plan) bool {
	if p.op == opCol {
		return p.typ.Kind.IsBinary()
	}
	for _, k := range p.children() {
		if len(k.cols) > 0 {
			return binaryLeaf(k)
		}
	}
	return false
}

func (e *Eval) buildNode(p *plan) kernel {
	out := vec{Column: tuple.Column{Type: p.typ}}
	switch p.op {
	case opConst:
		return &constKernel{val: p.val, out: out, sink: newSink(p.typ, e)}
	case opCol:
		return &colKernel{col: p.col}
	case opNeg, opArith:
		return e.buildArith(p, out)
	case opCompare:
		return e.buildCompare(p, out)
	case opRange:
		return e.buildRange(p, out)
	case opAnd, opOr:
		return e.buildLogic(p, out)
	case opNot:
		return &notKernel{arg: e.build(p.args[0]), out: out}
	case opIsNull:
		return &isNullKernel{arg: e.build(p.args[0]), not: p.not, out: out}
	case opIsBool:
		return &isBoolKernel{arg: e.build(p.args[0]), want: p.val.b, not: p.not, out: out}
	case opInSet:
		return &inSetKernel{arg: e.build(p.args[0]), set: p.set, not: p.not, out: out}
	case opIn:
		return e.buildIn(p, out)
	case opBetween:
		k := &betweenKernel{class: p.class, classHi: p.classHi, not: p.not, out: out}
		k.a, k.lo, k.hi = e.build(p.args[0]), e.build(p.args[1]), e.build(p.args[2])
		return k
	case opCase:
		return e.buildCase(p, out)
	case opCoalesce:
		return &coalesceKernel{args: e.buildAll(p.args), merge: merger{out: out, sink: newSink(p.typ, e)}}
	case opNullIf:
		return &nullIfKernel{a: e.build(p.args[0]), b: e.build(p.args[1]), class: p.class, out: out}
	case opCast:
		return e.buildCast(p, out)
	}
	return e.buildCall(p, out)
}

func (e *Eval) buildAll(list []*plan) []kernel {
	out := make([]kernel, len(list))
	for i, p := range list {
		out[i] = e.build(p)
	}
	return out
}

// colKernel reads a column.
type colKernel struct {
	col int
	out vec
}

func (k *colKernel) eval(f *frame) *tuple.Column {
	c := f.col(k.col)
	if f.sel == nil {
		return c
	}
	k.out.Type = c.Type
	return k.out.gather(c, f.sel)
}

func (k *colKernel) selectTrue(f *frame, dst []uint32) []uint32 {
	c := f.col(k.col)
	n := len(dst)
	dst = growTo(dst, n+f.n)
	for i := range f.n {
		r := f.row(i)
		dst[n] = r
		n += bit(c.Bool[r] && (c.Valid == nil || c.Valid[r]))
	}
	return dst[:n]
}

// constKernel repeats a constant; what is filled once stays.
type constKernel struct {
	val    value
	filled int
	out    vec
	sink   *sink
}

func (k *constKernel) eval(f *frame) *tuple.Column {
	n := f.n
	if n > k.filled {
		k.fill(n)
	}
	k.out.resize(n)
	k.out.Valid = nil
	if k.val.null {
		k.out.Valid = k.out.valid[:n]
	}
	return &k.out.Column
}

func (k *constKernel) fill(n int) {
	k.filled = n
	if k.val.null {
		k.out.valid = make([]bool, n)
		k.out.resize(n)
		return
	}
	switch kind := k.out.Type.Kind; {
	case kind == tuple.Bool:
		fill(k.out.asBool(n), k.val.b)
	case kind.IsInt():
		fill(k.out.asInt(n), k.val.i)
	case kind == tuple.Float64:
		fill(k.out.asFloat(n), k.val.f)
	case kind.IsBinary():
		fill(k.out.asCode(n), k.sink.add(k.val.s))
		k.out.Dict = k.sink.dict()
	}
}
