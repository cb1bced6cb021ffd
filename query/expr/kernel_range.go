package expr

import (
	"math/bits"

	"fednode/query/tuple"
)

// rangeKernel tests whether an integer lies in a range with one unsigned comparison: x - lo <= span, modulo 2^64. There
// the complement of a range is a range as well, so every comparison with constants comes to this but the empty one.
type rangeKernel struct {
	arg    kernel
	lo     uint64
	span   uint64
	none   bool          // the range is empty
	column *colKernel    // arg, if it is a column: its rows are then tested in place
	linear *linearKernel // arg, if it is m*x + c
	out    vec
}

func (e *Eval) buildRange(p *plan, out vec) kernel {
	k := &rangeKernel{arg: e.build(p.args[0]), lo: uint64(p.lo), span: uint64(p.hi) - uint64(p.lo), out: out}
	if p.not {
		k.none = p.lo == minInt && p.hi == maxInt
		k.lo, k.span = uint64(p.hi)+1, -(k.span + 2)
	}
	k.column, _ = k.arg.(*colKernel)
	k.linear, _ = k.arg.(*linearKernel)
	return k
}

func (k *rangeKernel) eval(f *frame) *tuple.Column {
	a := k.arg.eval(f)
	out := k.out.asBool(f.n)
	k.out.Valid = a.Valid
	if k.none {
		fill(out, false)
		return &k.out.Column
	}
	lo, span := k.lo, k.span
	for i, v := range a.Int[:len(out)] {
		out[i] = uint64(v)-lo <= span
	}
	return &k.out.Column
}

func (k *rangeKernel) selectTrue(f *frame, dst []uint32) []uint32 {
	if k.none {
		k.arg.eval(f) // for what it counts
		return dst
	}
	at := len(dst)
	dst = growTo(dst, at+f.n)
	n := k.into(f, dst[at:])
	return dst[:at+n]
}

// into writes the rows in range to room, which has a place for each, and returns how many they are.
func (k *rangeKernel) into(f *frame, room []uint32) int {
	switch {
	case k.column != nil && f.sel != nil:
		if c := f.col(k.column.col); c.Valid == nil {
			return rowsInRange(c.Int, f.sel, room, k.lo, k.span)
		}
	case k.linear != nil:
		x := k.linear.x.eval(f)
		if n, ok := k.linearInRange(x, f, room); ok {
			return n
		}
		return k.inRange(k.linear.of(x, f), f, room)
	}
	return k.inRange(k.arg.eval(f), f, room)
}

func (k *rangeKernel) inRange(a *tuple.Column, f *frame, room []uint32) int {
	switch v := a.Int[:f.n]; {
	case a.Valid != nil:
		n := 0
		for i, x := range v {
			room[n] = f.row(i)
			n += bit(uint64(x)-k.lo <= k.span && a.Valid[i])
		}
		return n
	case f.sel == nil:
		return allInRange(v, room, k.lo, k.span)
	default:
		n := 0
		for i, x := range v {
			room[n] = f.sel[i]
			n += bit(uint64(x)-k.lo <= k.span)
		}
		return n
	}
}

// The loops below stand alone so that all they use stays in registers.

func allInRange(v []int64, room []uint32, lo, span uint64) (n int) {
	room = room[:len(v)]
	for i, x := range v {
		room[n] = uint32(i)
		n += bit(uint64(x)-lo <= span)
	}
	return n
}

func rowsInRange(v []int64, sel, room []uint32, lo, span uint64) (n int) {
	room = room[:len(sel)]
	for _, s := range sel {
		room[n] = s
		n += bit(uint64(v[s])-lo <= span)
	}
	return n
}

func productsInRange(v []int64, room []uint32, m int64, lo, span uint64) (n int, seen uint64) {
	room = room[:len(v)]
	for i, x := range v {
		seen |= uint64(x ^ x>>63)
		room[n] = uint32(i)
		n += bit(uint64(x*m)-lo <= span)
	}
	return n, seen
}

// linearInRange selects the rows where m*x + c lies in the range, if all rows are there, none is null and all are small
// enough; the computed values are never stored.
func (k *rangeKernel) linearInRange(x *tuple.Column, f *frame, room []uint32) (n int, ok bool) {
	if x.Valid != nil || f.sel != nil {
		return 0, false
	}
	n, seen := productsInRange(x.Int[:f.n], room, k.linear.m, k.lo-uint64(k.linear.c), k.span)
	return n, bits.Len64(seen) <= k.linear.maxBits
}
