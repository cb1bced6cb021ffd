package aggfn

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// sumFloat sums floats in the order in which they come; slices are added in their order.
type sumFloat struct {
	avg bool
	sum state.Array[float64]
}

func (a *sumFloat) Grow(n int) { a.sum.Grow(n) }

func (a *sumFloat) Add(slots []uint32, col *tuple.Column) error {
	a.sum.Own(slots)
	vals := col.Float[:len(slots)]
	if flat := a.sum.Flat(); flat != nil {
		for i, s := range slots {
			flat[s] += vals[i]
		}
		return nil
	}
	pages := a.sum.Pages()
	for i, s := range slots {
		pages[s/state.PageSize][s%state.PageSize] += vals[i]
	}
	return nil
}

func (a *sumFloat) Merge(src Acc, from, to []uint32) error {
	o := src.(*sumFloat)
	for i, s := range from {
		*a.sum.At(to[i]) += o.sum.Get(s)
	}
	return nil
}

func (a *sumFloat) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Float64))
	for i, s := range slots {
		if n[i] == 0 {
			dst.AppendNull()
			continue
		}
		v := a.sum.Get(s)
		if a.avg {
			v /= float64(n[i])
		}
		appendFloat(dst, v)
	}
	return 0
}

func appendFloat(dst *tuple.Column, v float64) {
	dst.Float = append(dst.Float, v)
	if dst.Valid != nil {
		dst.Valid = append(dst.Valid, true)
	}
}

func (a *sumFloat) Snapshot(e *tuple.Encoder, slots []uint32) { e.Floats(gather(&a.sum, slots)) }

func (a *sumFloat) Restore(d *tuple.Decoder, n int) { scatter(d, &a.sum, d.Floats(), n) }

func (a *sumFloat) Clear() { a.sum.Clear() }

func (a *sumFloat) Fork() Acc { return &sumFloat{avg: a.avg, sum: a.sum.Fork()} }

func (a *sumFloat) Bytes() int64 { return a.sum.Bytes() }

// gather returns the entries of slots.
func gather[T any](a *state.Array[T], slots []uint32) []T {
	out := make([]T, len(slots))
	for i, s := range slots {
		out[i] = a.Get(s)
	}
	return out
}

// scatter sets entries 0 to n-1 to what a decoder gave.
func scatter[T any](d *tuple.Decoder, a *state.Array[T], vals []T, n int) {
	if d.Err() == nil && len(vals) != n {
		d.Fail("%d accumulators, want %d", len(vals), n)
	}
	if d.Err() != nil {
		return
	}
	a.Grow(n)
	for i, v := range vals {
		*a.At(uint32(i)) = v
	}
}
