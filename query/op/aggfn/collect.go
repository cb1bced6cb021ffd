package aggfn

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveCollect(t tuple.Type, params []float64) (Func, error) {
	if t.Kind == tuple.List {
		return Func{}, wrongType("collect", t, "a type that is not a list itself")
	}
	return Func{Type: tuple.ListOf(t), New: func() Acc {
		return &collect{limit: uint32(params[0]), vals: state.NewValues(t), writer: state.NewValueWriter(t)}
	}}, nil
}

// collect keeps all values of each slot in stream order, up to limit: more is an error, since a list that silently ends
// would be a wrong result.
type collect struct {
	limit  uint32
	vals   state.Values
	items  state.Array[item]
	lists  state.Array[list]
	writer state.ValueWriter
}

// item is one value; next is the place of the next one of its list plus one, 0 at the end.
type item struct {
	word uint64
	next uint32
}

// list is one slot's values: places plus one.
type list struct{ first, last, n uint32 }

func (a *collect) Grow(n int) { a.lists.Grow(n) }

func (a *collect) Add(slots []uint32, col *tuple.Column) error {
	for i, w := range a.vals.Words(col) {
		if err := a.append(slots[i], w); err != nil {
			return err
		}
	}
	return nil
}

func (a *collect) append(slot uint32, word uint64) error {
	l := a.lists.At(slot)
	if l.n >= a.limit {
		return &FullError{Slot: slot, Limit: int64(a.limit)}
	}
	at := a.items.Append(item{word: word}) + 1
	if l.n == 0 {
		l.first = at
	} else {
		a.items.At(l.last - 1).next = at
	}
	l.last = at
	l.n++
	return nil
}

// appendWords appends a slot's values.
func (a *collect) appendWords(dst []uint64, slot uint32) []uint64 {
	for at := a.lists.Get(slot).first; at != 0; {
		x := a.items.Get(at - 1)
		dst = append(dst, x.word)
		at = x.next
	}
	return dst
}

func (a *collect) Merge(src Acc, from, to []uint32) error {
	o := src.(*collect)
	ids := a.vals.Import(&o.vals)
	var words []uint64
	for i, s := range from {
		words = o.appendWords(words[:0], s)
		for _, w := range words {
			if err := a.append(to[i], ids.Word(w)); err != nil {
				return err
			}
		}
	}
	return nil
}

// flatten returns the values of slots end to end, and where each slot's begin.
func (a *collect) flatten(slots []uint32) (words []uint64, off []uint32) {
	off = make([]uint32, 1, len(slots)+1)
	for _, s := range slots {
		words = a.appendWords(words, s)
		off = append(off, uint32(len(words)))
	}
	return words, off
}

func (a *collect) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	words, off := a.flatten(slots)
	a.writer.WriteLists(dst, &a.vals, words, off)
	nullWhereNone(dst, n)
	return 0
}

func (a *collect) Snapshot(e *tuple.Encoder, slots []uint32) {
	words, off := a.flatten(slots)
	counts := make([]uint32, len(slots))
	for i := range counts {
		counts[i] = off[i+1] - off[i]
	}
	e.Uint32s(counts)
	a.vals.EncodeWords(e, words)
}

func (a *collect) Restore(d *tuple.Decoder, n int) {
	counts, total := readCounts(d, n)
	a.Grow(n)
	words := a.vals.DecodeWords(d, total)
	if d.Err() != nil {
		return
	}
	for slot, c := range counts {
		for range c {
			if err := a.append(uint32(slot), words[0]); err != nil {
				d.Fail("%v", err)
				return
			}
			words = words[1:]
		}
	}
}

func (a *collect) Clear() {
	a.items.Clear()
	a.lists.Clear()
	a.vals.Clear()
}

// Release gives the scratch back.
func (a *collect) Release() { a.vals.Release() }

func (a *collect) Fork() Acc {
	return &collect{
		limit: a.limit, vals: a.vals.Fork(), items: a.items.Fork(), lists: a.lists.Fork(),
		writer: state.NewValueWriter(a.vals.Type()),
	}
}

func (a *collect) Bytes() int64 { return a.items.Bytes() + a.lists.Bytes() + a.vals.Bytes() }
