package aggfn

import (
	"math"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveExtreme(largest bool) func(tuple.Type, []float64) (Func, error) {
	return func(t tuple.Type, _ []float64) (Func, error) {
		f := Func{Type: t, OrderInsensitive: true}
		switch {
		case t.Kind == tuple.List:
			name := "min"
			if largest {
				name = "max"
			}
			return Func{}, wrongType(name, t, "a type with an order, which lists do not have here")
		case t.Kind.IsBinary():
			f.New = func() Acc { return &extremeBin{largest: largest, vals: state.NewValues(t)} }
		default:
			f.New = func() Acc { return &extreme{typ: t, largest: largest} }
		}
		return f, nil
	}
}

// extreme keeps the largest rank of each slot: an unsigned number that rises with the value, or for min falls. Zero, what
// a new slot holds, is the rank below or equal to all.
type extreme struct {
	typ     tuple.Type
	largest bool
	ranks   state.Array[uint64]
	scratch []uint64
}

const topBit = 1 << 63

// rankInt maps int64 to uint64 in the same order.
func rankInt(v int64) uint64 { return uint64(v) ^ topBit }

// rankFloat maps float64 to uint64 in the system's order of floats.
func rankFloat(v float64) uint64 {
	b := tuple.FloatBits(v)
	if b&topBit != 0 && v == v {
		return ^b
	}
	return b | topBit
}

func unrankFloat(r uint64) float64 {
	if r&topBit != 0 {
		return math.Float64frombits(r &^ topBit)
	}
	return math.Float64frombits(^r)
}

func (a *extreme) flip() uint64 {
	if a.largest {
		return 0
	}
	return ^uint64(0)
}

func (a *extreme) Grow(n int) { a.ranks.Grow(n) }

func (a *extreme) Add(slots []uint32, col *tuple.Column) error {
	a.ranks.Own(slots)
	flat := a.ranks.Flat()
	if a.typ.Kind.IsInt() && flat != nil {
		flip, vals := a.flip()^topBit, col.Int[:len(slots)]
		for i, s := range slots {
			flat[s] = max(flat[s], uint64(vals[i])^flip)
		}
		return nil
	}
	ranks := a.rankAll(col, len(slots))
	if flat != nil {
		for i, s := range slots {
			flat[s] = max(flat[s], ranks[i])
		}
		return nil
	}
	pages := a.ranks.Pages()
	for i, s := range slots {
		p := &pages[s/state.PageSize][s%state.PageSize]
		*p = max(*p, ranks[i])
	}
	return nil
}

func (a *extreme) rankAll(col *tuple.Column, n int) []uint64 {
	flip := a.flip()
	r := a.scratch[:0]
	switch {
	case a.typ.Kind.IsInt():
		for _, v := range col.Int[:n] {
			r = append(r, rankInt(v)^flip)
		}
	case a.typ.Kind == tuple.Float64:
		for _, v := range col.Float[:n] {
			r = append(r, rankFloat(v)^flip)
		}
	default:
		for _, v := range col.Bool[:n] {
			var x uint64
			if v {
				x = 1
			}
			r = append(r, x^flip)
		}
	}
	a.scratch = r
	return r
}

func (a *extreme) Merge(src Acc, from, to []uint32) error {
	o := src.(*extreme)
	for i, s := range from {
		p := a.ranks.At(to[i])
		*p = max(*p, o.ranks.Get(s))
	}
	return nil
}

func (a *extreme) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	dst.Reset(a.typ)
	flip := a.flip()
	for i, s := range slots {
		if n[i] == 0 {
			dst.AppendNull()
			continue
		}
		switch r := a.ranks.Get(s) ^ flip; {
		case a.typ.Kind.IsInt():
			dst.Int = append(dst.Int, int64(r^topBit))
		case a.typ.Kind == tuple.Float64:
			dst.Float = append(dst.Float, unrankFloat(r))
		default:
			dst.Bool = append(dst.Bool, r == 1)
		}
		if dst.Valid != nil {
			dst.Valid = append(dst.Valid, true)
		}
	}
	return 0
}

func (a *extreme) Snapshot(e *tuple.Encoder, slots []uint32) { e.Uint64s(gather(&a.ranks, slots)) }

func (a *extreme) Restore(d *tuple.Decoder, n int) { scatter(d, &a.ranks, d.Uint64s(), n) }

func (a *extreme) Clear() { a.ranks.Clear() }

// Release gives the scratch back.
func (a *extreme) Release() { a.scratch = nil }

func (a *extreme) Fork() Acc {
	return &extreme{typ: a.typ, largest: a.largest, ranks: a.ranks.Fork()}
}

func (a *extreme) Bytes() int64 { return a.ranks.Bytes() }
