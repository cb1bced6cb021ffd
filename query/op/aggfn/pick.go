package aggfn

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolvePick(last bool) func(tuple.Type, []float64) (Func, error) {
	return func(t tuple.Type, _ []float64) (Func, error) {
		return Func{Type: t, New: func() Acc {
			return &pick{last: last, vals: state.NewValues(t), writer: state.NewValueWriter(t)}
		}}, nil
	}
}

// pick keeps the first or the last value of each slot in stream order.
type pick struct {
	last   bool
	vals   state.Values
	picked state.Array[picked]
	writer state.ValueWriter
}

type picked struct {
	word uint64
	some bool
}

func (a *pick) Grow(n int) { a.picked.Grow(n) }

func (a *pick) Add(slots []uint32, col *tuple.Column) error {
	words := a.vals.Words(col)
	for i, s := range slots {
		if a.last || !a.picked.Get(s).some {
			*a.picked.At(s) = picked{word: words[i], some: true}
		}
	}
	return nil
}

func (a *pick) Merge(src Acc, from, to []uint32) error {
	o := src.(*pick)
	ids := a.vals.Import(&o.vals)
	for i, s := range from {
		p := o.picked.Get(s)
		if !p.some || !a.last && a.picked.Get(to[i]).some {
			continue
		}
		p.word = ids.Word(p.word)
		*a.picked.At(to[i]) = p
	}
	return nil
}

func (a *pick) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	writePicked(dst, &a.writer, &a.vals, gather(&a.picked, slots))
	return 0
}

func writePicked(dst *tuple.Column, w *state.ValueWriter, vals *state.Values, all []picked) {
	words, null, nulls := make([]uint64, len(all)), make([]bool, len(all)), 0
	for i, p := range all {
		words[i], null[i] = p.word, !p.some
		if !p.some {
			nulls++
		}
	}
	if nulls == 0 {
		null = nil
	}
	w.Write(dst, vals, words, null)
}

func (a *pick) Snapshot(e *tuple.Encoder, slots []uint32) {
	var c tuple.Column
	w := state.NewValueWriter(a.vals.Type())
	writePicked(&c, &w, &a.vals, gather(&a.picked, slots))
	e.Column(&c)
}

func (a *pick) Restore(d *tuple.Decoder, n int) { restorePicked(d, &a.vals, &a.picked, n) }

func restorePicked(d *tuple.Decoder, vals *state.Values, into *state.Array[picked], n int) {
	c := state.DecodeColumn(d, vals.Type(), n)
	if c == nil {
		return
	}
	into.Grow(n)
	slots, dense := nonNull(c)
	for i, word := range vals.Words(dense) {
		*into.At(slots[i]) = picked{word: word, some: true}
	}
}

// nonNull returns the rows that are not null, and their values.
func nonNull(c *tuple.Column) ([]uint32, *tuple.Column) {
	rows := make([]uint32, 0, c.Rows())
	for i := range c.Rows() {
		if !c.IsNull(i) {
			rows = append(rows, uint32(i))
		}
	}
	dense := &tuple.Column{Type: c.Type}
	c.Gather(dense, rows)
	dense.Valid = nil
	return rows, dense
}

func (a *pick) Clear() {
	a.picked.Clear()
	a.vals.Clear()
}

// Release gives the scratch back.
func (a *pick) Release() { a.vals.Release() }

func (a *pick) Fork() Acc {
	return &pick{last: a.last, vals: a.vals.Fork(), picked: a.picked.Fork(), writer: state.NewValueWriter(a.vals.Type())}
}

func (a *pick) Bytes() int64 { return a.picked.Bytes() + a.vals.Bytes() }
