package aggfn

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveTop(t tuple.Type, params []float64) (Func, error) {
	if t.Kind == tuple.List {
		return Func{}, wrongType("top_k", t, "a type that is not a list itself")
	}
	return Func{Type: tuple.ListOf(t), OrderInsensitive: true, New: func() Acc {
		return &top{k: int(params[0]), vals: state.NewValues(t), writer: state.NewValueWriter(t)}
	}}, nil
}

// top counts each value of each slot exactly and returns the k most frequent, of equally frequent ones the smaller first.
type top struct {
	k      int
	vals   state.Values
	counts state.Pairs
	writer state.ValueWriter
}

func (a *top) Grow(int) {}

func (a *top) Add(slots []uint32, col *tuple.Column) error {
	for i, w := range a.vals.Words(col) {
		a.counts.Add(slots[i], w, 1)
	}
	return nil
}

func (a *top) Merge(src Acc, from, to []uint32) error {
	o := src.(*top)
	ids, lists := a.vals.Import(&o.vals), o.counts.BySlot(from)
	for i := range from {
		for _, e := range lists.Of(i) {
			p := o.counts.Entry(e)
			a.counts.Add(to[i], ids.Word(p.Key), p.Count)
		}
	}
	return nil
}

func (a *top) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	lists := a.counts.BySlot(slots)
	var words []uint64
	off := make([]uint32, 1, len(slots)+1)
	for i := range slots {
		entries := slices.Clone(lists.Of(i))
		slices.SortFunc(entries, func(x, y uint32) int {
			p, q := a.counts.Entry(x), a.counts.Entry(y)
			if p.Count != q.Count {
				if p.Count > q.Count {
					return -1
				}
				return 1
			}
			return a.vals.Compare(p.Key, q.Key)
		})
		for _, e := range entries[:min(a.k, len(entries))] {
			words = append(words, a.counts.Entry(e).Key)
		}
		off = append(off, uint32(len(words)))
	}
	a.writer.WriteLists(dst, &a.vals, words, off)
	nullWhereNone(dst, n)
	return 0
}

// nullWhereNone makes the lists of slots without a value null.
func nullWhereNone(dst *tuple.Column, n []int64) {
	if !slices.Contains(n, 0) {
		return
	}
	dst.Valid = make([]bool, len(n))
	for i, x := range n {
		dst.Valid[i] = x != 0
	}
}

func (a *top) Snapshot(e *tuple.Encoder, slots []uint32) {
	lists := a.counts.BySlot(slots)
	sizes := make([]uint32, len(slots))
	var words []uint64
	var counts []int64
	for i := range slots {
		entries := slices.Clone(lists.Of(i))
		slices.SortFunc(entries, func(x, y uint32) int {
			return a.vals.Compare(a.counts.Entry(x).Key, a.counts.Entry(y).Key)
		})
		sizes[i] = uint32(len(entries))
		for _, x := range entries {
			p := a.counts.Entry(x)
			words, counts = append(words, p.Key), append(counts, p.Count)
		}
	}
	e.Uint32s(sizes)
	a.vals.EncodeWords(e, words)
	e.Ints(counts)
}

func (a *top) Restore(d *tuple.Decoder, n int) {
	sizes, total := readCounts(d, n)
	words := a.vals.DecodeWords(d, total)
	counts := d.Ints()
	if d.Err() == nil && len(counts) != total {
		d.Fail("%d counts, want %d", len(counts), total)
	}
	if d.Err() != nil {
		return
	}
	i := 0
	for slot, size := range sizes {
		for range size {
			a.counts.Add(uint32(slot), words[i], counts[i])
			i++
		}
	}
}

func (a *top) Clear() {
	a.counts.Clear()
	a.vals.Clear()
}

// Release gives the scratch back.
func (a *top) Release() { a.vals.Release() }

func (a *top) Fork() Acc {
	return &top{k: a.k, vals: a.vals.Fork(), counts: a.counts.Fork(), writer: state.NewValueWriter(a.vals.Type())}
}

func (a *top) Bytes() int64 { return a.counts.Bytes() + a.vals.Bytes() }
