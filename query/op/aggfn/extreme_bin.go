package aggfn

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// extremeBin keeps the least or the greatest binary value of each slot, by bytes.
type extremeBin struct {
	largest bool
	vals    state.Values
	picked  state.Array[picked]
	writer  *state.ValueWriter
}

func (a *extremeBin) Grow(n int) { a.picked.Grow(n) }

func (a *extremeBin) Add(slots []uint32, col *tuple.Column) error {
	for i, word := range a.vals.Words(col) {
		a.offer(slots[i], word)
	}
	return nil
}

// offer takes a value over if it is better than the slot's.
func (a *extremeBin) offer(slot uint32, word uint64) {
	p := a.picked.Get(slot)
	if p.some {
		if p.word == word || a.vals.Compare(word, p.word) > 0 != a.largest {
			return
		}
	}
	*a.picked.At(slot) = picked{word: word, some: true}
}

func (a *extremeBin) Merge(src Acc, from, to []uint32) error {
	o := src.(*extremeBin)
	ids := a.vals.Import(&o.vals)
	for i, s := range from {
		if p := o.picked.Get(s); p.some {
			a.offer(to[i], ids.Word(p.word))
		}
	}
	return nil
}

func (a *extremeBin) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	if a.writer == nil {
		w := state.NewValueWriter(a.vals.Type())
		a.writer = &w
	}
	writePicked(dst, a.writer, &a.vals, gather(&a.picked, slots))
	return 0
}

func (a *extremeBin) Snapshot(e *tuple.Encoder, slots []uint32) {
	var c tuple.Column
	w := state.NewValueWriter(a.vals.Type())
	writePicked(&c, &w, &a.vals, gather(&a.picked, slots))
	e.Column(&c)
}

func (a *extremeBin) Restore(d *tuple.Decoder, n int) { restorePicked(d, &a.vals, &a.picked, n) }

func (a *extremeBin) Clear() {
	a.picked.Clear()
	a.vals.Clear()
}

// Release gives the scratch back.
func (a *extremeBin) Release() { a.vals.Release() }

func (a *extremeBin) Fork() Acc {
	return &extremeBin{largest: a.largest, vals: a.vals.Fork(), picked: a.picked.Fork()}
}

func (a *extremeBin) Bytes() int64 { return a.picked.Bytes() + a.vals.Bytes() }
