package aggfn

import (
	"math/bits"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveSum(t tuple.Type, _ []float64) (Func, error) {
	switch t.Kind {
	case tuple.Int64, tuple.Decimal, tuple.Duration:
		return Func{Type: t, OrderInsensitive: true, New: func() Acc { return &sumInt{typ: t, arg: t} }}, nil
	case tuple.Float64:
		return Func{Type: t, New: func() Acc { return &sumFloat{} }}, nil
	}
	return Func{}, wrongType("sum", t, "int64, float64, decimal or duration")
}

// sumInt sums integers exactly: the low word in lo, and in hi how often it wrapped around. hi stays empty until a sum
// wraps for the first time.
type sumInt struct {
	typ tuple.Type // of the result
	arg tuple.Type
	avg bool
	lo  state.Array[int64]
	hi  state.Array[int64]
}

func (a *sumInt) Grow(n int) {
	a.lo.Grow(n)
	if a.hi.Len() > 0 {
		a.hi.Grow(n)
	}
}

func (a *sumInt) Add(slots []uint32, col *tuple.Column) error {
	a.lo.Own(slots)
	vals := col.Int[:len(slots)]
	if flat := a.lo.Flat(); flat != nil {
		for i, s := range slots {
			v, old := vals[i], flat[s]
			sum := old + v
			flat[s] = sum
			if (old^sum)&(v^sum) < 0 {
				a.carry(s, v)
			}
		}
		return nil
	}
	pages := a.lo.Pages()
	for i, s := range slots {
		p := pages[s/state.PageSize]
		v, old := vals[i], p[s%state.PageSize]
		sum := old + v
		p[s%state.PageSize] = sum
		if (old^sum)&(v^sum) < 0 {
			a.carry(s, v)
		}
	}
	return nil
}

// carry notes that the low word of slot s wrapped around when v was added.
func (a *sumInt) carry(s uint32, v int64) {
	a.hi.Grow(a.lo.Len())
	if v < 0 {
		*a.hi.At(s)--
	} else {
		*a.hi.At(s)++
	}
}

// total returns the exact sum of a slot: hi·2^64 + lo, lo taken as signed.
func (a *sumInt) total(s uint32) wide {
	lo := a.lo.Get(s)
	w := wide{lo: uint64(lo), hi: lo >> 63}
	if a.hi.Len() > 0 {
		w.hi += a.hi.Get(s)
	}
	return w
}

func (a *sumInt) setTotal(s uint32, w wide) {
	*a.lo.At(s) = int64(w.lo)
	if h := w.hi - int64(w.lo)>>63; h != 0 || a.hi.Len() > 0 {
		a.hi.Grow(a.lo.Len())
		*a.hi.At(s) = h
	}
}

func (a *sumInt) Merge(src Acc, from, to []uint32) error {
	o := src.(*sumInt)
	for i, s := range from {
		a.setTotal(to[i], a.total(to[i]).plus(o.total(s)))
	}
	return nil
}

func (a *sumInt) Result(dst *tuple.Column, slots []uint32, n []int64) (overflow uint64) {
	dst.Reset(a.typ)
	for i, s := range slots {
		if n[i] == 0 {
			dst.AppendNull()
			continue
		}
		if !a.appendResult(dst, a.total(s), n[i]) {
			dst.AppendNull()
			overflow++
		}
	}
	return overflow
}

// appendResult appends one sum or mean; ok is false, and nothing appended, when it is out of range.
func (a *sumInt) appendResult(dst *tuple.Column, sum wide, n int64) (ok bool) {
	switch {
	case !a.avg:
		v, fits := sum.int64()
		if fits && a.typ.Kind == tuple.Decimal {
			fits = v <= maxDecimal && v >= -maxDecimal
		}
		if !fits {
			return false
		}
		dst.Int = append(dst.Int, v)
	case a.typ.Kind == tuple.Float64:
		dst.Float = append(dst.Float, meanFloat(sum, n))
	default:
		v, fits := meanScaled(sum, n, a.typ.Scale-a.arg.Scale, a.typ.Kind == tuple.Decimal)
		if !fits {
			return false
		}
		dst.Int = append(dst.Int, v)
	}
	if dst.Valid != nil {
		dst.Valid = append(dst.Valid, true)
	}
	return true
}

func (a *sumInt) Snapshot(e *tuple.Encoder, slots []uint32) {
	lo, hi := make([]uint64, len(slots)), make([]int64, len(slots))
	wrapped := false
	for i, s := range slots {
		w := a.total(s)
		lo[i], hi[i] = w.lo, w.hi-int64(w.lo)>>63
		wrapped = wrapped || hi[i] != 0
	}
	e.Uint64s(lo)
	e.Bool(wrapped)
	if wrapped {
		e.Ints(hi)
	}
}

func (a *sumInt) Restore(d *tuple.Decoder, n int) {
	lo, hi := d.Uint64s(), []int64(nil)
	if d.Bool() {
		hi = d.Ints()
	}
	if len(lo) != n || hi != nil && len(hi) != n {
		d.Fail("%d sums, want %d", len(lo), n)
		return
	}
	a.Grow(n)
	for i, v := range lo {
		*a.lo.At(uint32(i)) = int64(v)
	}
	for i, v := range hi {
		a.hi.Grow(n)
		*a.hi.At(uint32(i)) = v
	}
}

func (a *sumInt) Clear() {
	a.lo.Clear()
	a.hi = state.Array[int64]{}
}

func (a *sumInt) Fork() Acc {
	return &sumInt{typ: a.typ, arg: a.arg, avg: a.avg, lo: a.lo.Fork(), hi: a.hi.Fork()}
}

func (a *sumInt) Bytes() int64 { return a.lo.Bytes() + a.hi.Bytes() }

// wide is a 128-bit integer in two's complement.
type wide struct {
	lo uint64
	hi int64
}

func (w wide) plus(o wide) wide {
	lo, carry := bits.Add64(w.lo, o.lo, 0)
	return wide{lo: lo, hi: w.hi + o.hi + int64(carry)}
}

func (w wide) int64() (int64, bool) {
	v := int64(w.lo)
	return v, v>>63 == w.hi
}
