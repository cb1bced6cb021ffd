package expr

import (
	"bytes"
	"slices"

	"fednode/query/tuple"
)

// compareKernel compares two values of one class.
type compareKernel struct {
	a, b  kernel
	cmp   cmpOp
	class cmpClass
	out   vec
}

func (e *Eval) buildCompare(p *plan, out vec) kernel {
	if c := p.args[1]; p.class == classFloat && c.isConst() && !c.val.null && c.val.f == c.val.f {
		return newFloatConst(e.build(p.args[0]), p.cmp, c.val.f, out)
	}
	return &compareKernel{a: e.build(p.args[0]), b: e.build(p.args[1]), cmp: p.cmp, class: p.class, out: out}
}

func (k *compareKernel) eval(f *frame) *tuple.Column {
	a, b := k.a.eval(f), k.b.eval(f)
	k.out.both(a.Valid, b.Valid, f.n)
	compareColumns(k.out.asBool(f.n), a, b, k.cmp, k.class)
	return &k.out.Column
}

// compareColumns sets out to a op b, row by row; where either is null it sets anything.
func compareColumns(out []bool, a, b *tuple.Column, op cmpOp, class cmpClass) {
	if op == cmpGt || op == cmpLe { // as b < a and b >= a
		a, b, op = b, a, op.swapped()
	}
	not := op&1 == 1
	less := op == cmpLt || op == cmpGe
	switch class {
	case classInt:
		compareInts(out, a.Int[:len(out)], b.Int[:len(out)], less, not)
	case classFloat:
		compareFloats(out, a.Float[:len(out)], b.Float[:len(out)], less, not)
	case classBool:
		for i := range out {
			x, y := a.Bool[i], b.Bool[i]
			out[i] = (less && !x && y || !less && x == y) != not
		}
	case classBin:
		compareBins(out, a, b, less, not)
	case classMixed:
		compareMixed(out, a, b, op)
	}
}

func compareInts(out []bool, a, b []int64, less, not bool) {
	if less {
		for i := range out {
			out[i] = (a[i] < b[i]) != not
		}
		return
	}
	for i := range out {
		out[i] = (a[i] == b[i]) != not
	}
}

// compareFloats uses the system's order: NaN is above all numbers and equal to itself.
func compareFloats(out []bool, a, b []float64, less, not bool) {
	if less {
		for i := range out {
			x, y := a[i], b[i]
			out[i] = (x < y || y != y && x == x) != not
		}
		return
	}
	for i := range out {
		x, y := a[i], b[i]
		out[i] = (x == y || x != x && y != y) != not
	}
}

func compareBins(out []bool, a, b *tuple.Column, less, not bool) {
	byCode := !less && a.Dict != nil && b.Dict != nil && a.Dict.Lineage() == b.Dict.Lineage() && a.Dict.Distinct()
	for i := range out {
		switch {
		case a.Valid != nil && !a.Valid[i] || b.Valid != nil && !b.Valid[i]:
		case byCode:
			out[i] = (a.Code[i] == b.Code[i]) != not
		case less:
			out[i] = (bytes.Compare(a.Bin(i), b.Bin(i)) < 0) != not
		default:
			out[i] = bytes.Equal(a.Bin(i), b.Bin(i)) != not
		}
	}
}

// floatConstKernel compares floats with a constant that is not NaN. Then the order of NaN (above every number) comes out
// right by testing below or equal, and negating.
type floatConstKernel struct {
	arg   kernel
	c     float64
	equal bool // test v == c
	orEq  bool // test v <= c, else v < c
	not   bool
	out   vec
}

func newFloatConst(arg kernel, op cmpOp, c float64, out vec) *floatConstKernel {
	k := &floatConstKernel{arg: arg, c: c, out: out}
	switch op {
	case cmpEq, cmpNe:
		k.equal, k.not = true, op == cmpNe
	case cmpLe, cmpGt:
		k.orEq, k.not = true, op == cmpGt
	default:
		k.not = op == cmpGe
	}
	return k
}

func (k *floatConstKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out, c, not := k.out.asBool(f.n), k.c, k.not
	v := a.Float[:len(out)]
	switch {
	case k.equal:
		for i := range out {
			out[i] = (v[i] == c) != not
		}
	case k.orEq:
		for i := range out {
			out[i] = (v[i] <= c) != not
		}
	default:
		for i := range out {
			out[i] = (v[i] < c) != not
		}
	}
	k.out.Valid = a.Valid
	return &k.out.Column
}

// inSetKernel looks values up among constants.
type inSetKernel struct {
	arg kernel
	set *constSet
	not bool
	out vec
}

func (k *inSetKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	k.out.Valid = a.Valid
	k.find(out, a)
	if k.set.hasNull { // found nowhere, but perhaps the null is it
		valid := k.out.ownValid(f.n)
		for i, found := range out {
			valid[i] = valid[i] && found
		}
	}
	if k.not {
		for i, found := range out {
			out[i] = !found
		}
	}
	return &k.out.Column
}

func (k *inSetKernel) find(out []bool, a *tuple.Column) {
	switch kind := a.Type.Kind; {
	case kind.IsInt():
		findInts(out, a.Int[:len(out)], k.set.ints)
	case kind == tuple.Float64:
		for i, v := range a.Float[:len(out)] {
			_, out[i] = k.set.floats[tuple.FloatBits(v)]
		}
	default:
		for i := range out {
			out[i] = false
			if a.Valid == nil || a.Valid[i] {
				_, out[i] = k.set.bins[string(a.Bin(i))]
			}
		}
	}
}

// fewInts is how many constants are compared one after the other sooner than searched.
const fewInts = 8

func findInts(out []bool, v, set []int64) {
	if len(set) > fewInts {
		for i, x := range v {
			_, out[i] = slices.BinarySearch(set, x)
		}
		return
	}
	fill(out, false)
	for _, s := range set {
		for i, x := range v {
			out[i] = out[i] || x == s
		}
	}
}

func sortedSet(v []int64) []int64 {
	slices.Sort(v)
	return slices.Compact(v)
}

// inKernel compares with items that are computed per row.
type inKernel struct {
	arg     kernel
	items   []kernel
	classes []cmpClass
	not     bool
	one     []bool
	out     vec
}

func (e *Eval) buildIn(p *plan, out vec) kernel {
	k := &inKernel{arg: e.build(p.args[0]), items: e.buildAll(p.args[1:]), not: p.not, out: out}
	for _, it := range p.args[1:] {
		k.classes = append(k.classes, classOf(p.args[0].typ, it.typ))
	}
	return k
}

func (k *inKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	fill(out, false)
	k.out.Valid = nil
	valid := k.out.ownValid(f.n)
	k.one = growTo(k.one, f.n)
	for j, item := range k.items {
		b := item.eval(f)
		compareColumns(k.one, a, b, cmpEq, k.classes[j])
		for i, found := range k.one {
			if b.Valid != nil && !b.Valid[i] {
				valid[i] = false
			} else {
				out[i] = out[i] || found
			}
		}
	}
	for i, found := range out {
		valid[i] = (valid[i] || found) && (a.Valid == nil || a.Valid[i])
		out[i] = found != k.not
	}
	return &k.out.Column
}

// betweenKernel is a >= lo AND a <= hi, with each computed once.
type betweenKernel struct {
	a, lo, hi kernel
	class     cmpClass
	classHi   cmpClass
	not       bool
	above     []bool
	below     []bool
	out       vec
}

func (k *betweenKernel) eval(f *frame) *tuple.Column {
	a, lo, hi := k.a.eval(f), k.lo.eval(f), k.hi.eval(f)
	k.above, k.below = growTo(k.above, f.n), growTo(k.below, f.n)
	compareColumns(k.above, a, lo, cmpGe, k.class)
	compareColumns(k.below, a, hi, cmpLe, k.classHi)
	out := k.out.asBool(f.n)
	for i := range out {
		out[i] = (k.above[i] && k.below[i]) != k.not
	}
	k.out.Valid = nil
	if a.Valid == nil && lo.Valid == nil && hi.Valid == nil {
		return &k.out.Column
	}
	valid := k.out.ownValid(f.n)
	for i := range out {
		av := a.Valid == nil || a.Valid[i]
		first, second := av && (lo.Valid == nil || lo.Valid[i]), av && (hi.Valid == nil || hi.Valid[i])
		// One end that fails decides, whatever the other is.
		fails := first && !k.above[i] || second && !k.below[i]
		valid[i] = fails || first && second
		if fails {
			out[i] = k.not
		}
	}
	return &k.out.Column
}
