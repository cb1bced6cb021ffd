package expr

import (
	"math/bits"

	"fednode/query/tuple"
)

// linearKernel is m*x + c of an integer x in one pass: what additions, subtractions and multiplications by constants come
// to. It first sees to it that no step leaves the range; if one may, the steps are computed one by one.
type linearKernel struct {
	x       kernel
	m, c    int64
	maxBits int         // the magnitude of x may have so many bits
	steps   *intArith   // the last step; the first takes x from held
	held    *heldKernel // x as computed, since computing it again would count again
	out     vec
}

// heldKernel gives what another kernel has computed already.
type heldKernel struct{ col *tuple.Column }

func (k *heldKernel) eval(*frame) *tuple.Column { return k.col }

// linear returns the kernel for arithmetic with a constant; what it was given if that is something else.
func linear(k *intArith) kernel {
	if !k.isConst || k.op == '/' || k.op == '%' {
		return k
	}
	l := &linearKernel{x: k.a, m: 1, maxBits: 62, out: vec{Column: tuple.Column{Type: k.out.Type}}}
	first, more := k.a.(*linearKernel)
	if more {
		l.x, l.m, l.c, l.maxBits = first.x, first.m, first.c, first.maxBits
	}
	m, c := l.m, l.c
	var f1, f2 fault
	switch k.op {
	case '*':
		m, f1 = mulInt(m, k.c)
		c, f2 = mulInt(c, k.c)
	default:
		c, f1 = intOp(k.op, c, k.c)
	}
	// With |m*x| and |c| below 2^61 at this step and at those before, nothing can leave the range.
	room := 61 - bits.Len64(magnitude(m))
	if f1 != faultNone || f2 != faultNone || room < 1 || bits.Len64(magnitude(c)) > 61 {
		return k
	}
	l.m, l.c, l.maxBits, l.steps = m, c, min(l.maxBits, room), k
	if more {
		l.held, k.a = first.held, first.steps
	} else {
		l.held = &heldKernel{}
		k.a = l.held
	}
	return l
}

func (k *linearKernel) eval(f *frame) *tuple.Column { return k.of(k.x.eval(f), f) }

// of computes m*x + c of a column x that the kernel's x gave.
func (k *linearKernel) of(x *tuple.Column, f *frame) *tuple.Column {
	out := k.out.asInt(f.n)
	var seen uint64
	m, c := k.m, k.c
	for i, v := range x.Int[:len(out)] {
		seen |= uint64(v ^ v>>63)
		out[i] = v*m + c
	}
	if bits.Len64(seen) > k.maxBits {
		k.held.col = x
		return k.steps.eval(f)
	}
	k.out.Valid = x.Valid
	return &k.out.Column
}
