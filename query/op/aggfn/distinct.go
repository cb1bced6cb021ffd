package aggfn

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveDistinct(t tuple.Type, _ []float64) (Func, error) {
	return Func{Type: tuple.Of(tuple.Int64), OrderInsensitive: true, New: func() Acc {
		return &distinct{vals: state.NewValues(t)}
	}}, nil
}

// distinct counts the distinct values of each slot exactly.
type distinct struct {
	vals state.Values
	sets state.Distinct
	ints []int64 // scratch
}

func (a *distinct) Grow(n int) { a.sets.Grow(n) }

func (a *distinct) Add(slots []uint32, col *tuple.Column) error {
	if col.Type.Kind.IsInt() {
		a.sets.Add(slots, col.Int)
		return nil
	}
	a.ints = a.ints[:0]
	for _, w := range a.vals.Words(col) {
		a.ints = append(a.ints, int64(w))
	}
	a.sets.Add(slots, a.ints)
	return nil
}

func (a *distinct) Merge(src Acc, from, to []uint32) error {
	o := src.(*distinct)
	a.sets.Merge(&o.sets, from, to, a.vals.Import(&o.vals))
	return nil
}

func (a *distinct) Result(dst *tuple.Column, slots []uint32, _ []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Int64))
	for _, s := range slots {
		dst.Int = append(dst.Int, a.sets.Len(s))
	}
	return 0
}

func (a *distinct) Snapshot(e *tuple.Encoder, slots []uint32) {
	var words []uint64
	counts := make([]uint32, len(slots))
	a.sets.Values(slots, func(i int, values []uint64) {
		counts[i] = uint32(len(values))
		words = append(words, values...)
		if a.vals.Numbered() {
			slices.SortFunc(words[len(words)-len(values):], a.vals.Compare)
		}
	})
	e.Uint32s(counts)
	a.vals.EncodeWords(e, words)
}

func (a *distinct) Restore(d *tuple.Decoder, n int) {
	counts, total := readCounts(d, n)
	a.Grow(n)
	words := a.vals.DecodeWords(d, total)
	if d.Err() != nil {
		return
	}
	for slot, c := range counts {
		for _, w := range words[:c] {
			a.sets.AddOne(uint32(slot), w)
		}
		words = words[c:]
		if a.sets.Len(uint32(slot)) != int64(c) {
			d.Fail("%d distinct values, %d of them different", c, a.sets.Len(uint32(slot)))
			return
		}
	}
}

// readCounts reads a number for each of n slots and returns their sum.
func readCounts(d *tuple.Decoder, n int) (counts []uint32, total int) {
	counts = d.Uint32s()
	if len(counts) != n {
		d.Fail("%d counts, want %d", len(counts), n)
		return nil, 0
	}
	for _, c := range counts {
		total += int(c)
	}
	if total > d.Remaining() {
		d.Fail("%d values announced, %d bytes left", total, d.Remaining())
		return nil, 0
	}
	return counts, total
}

func (a *distinct) Clear() {
	a.sets.Clear()
	a.vals.Clear()
}

// Release gives the scratch back.
func (a *distinct) Release() {
	a.vals.Release()
	a.ints = nil
}

func (a *distinct) Fork() Acc { return &distinct{vals: a.vals.Fork(), sets: a.sets.Fork()} }

func (a *distinct) Bytes() int64 { return a.sets.Bytes() + a.vals.Bytes() }
