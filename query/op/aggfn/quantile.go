package aggfn

import (
	"math"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveQuantile(t tuple.Type, params []float64) (Func, error) {
	f := Func{Type: tuple.Of(tuple.Float64), OrderInsensitive: true}
	switch t.Kind {
	case tuple.Int64, tuple.Float64, tuple.Decimal, tuple.Duration:
		f.New = func() Acc { return &quantile{arg: t, q: params[0]} }
		return f, nil
	}
	return Func{}, wrongType("quantile", t, "int64, float64, decimal or duration (in microseconds)")
}

// quantile keeps a histogram for each slot: the value whose rank is the least at or above q times their number. While a
// slot has at most exactMax distinct values they are counted one by one and the result is exact; beyond, values share a
// bucket when they agree in sign, exponent and the seven leading bits of the fraction, so that the result is within 0.4 %
// of the exact one. Both depend on the multiset of values alone.
type quantile struct {
	arg     tuple.Type
	q       float64
	exact   state.Pairs // by rank of the value
	buckets state.Pairs // by bucket
	slots   state.Array[histogram]
}

// histogram says what of the pairs counts for a slot.
type histogram struct {
	distinct uint32 // values in exact; above exactMax the buckets count and no more are added
	some     bool
	lo, hi   uint64 // ranks of the least and the greatest value
}

const (
	exactMax   = 64
	bucketBits = 52 - 7 // of a float's fraction, dropped
)

func (a *quantile) Grow(n int) { a.slots.Grow(n) }

func (a *quantile) Add(slots []uint32, col *tuple.Column) error {
	unit := math.Pow10(int(a.arg.Scale))
	for i, slot := range slots {
		var v float64
		if a.arg.Kind == tuple.Float64 {
			v = col.Float[i]
		} else {
			v = float64(col.Int[i]) / unit
		}
		a.add(slot, rankFloat(v), 1)
	}
	return nil
}

func (a *quantile) add(slot uint32, rank uint64, count int64) {
	a.widen(slot, rank, rank)
	a.addExact(slot, rank, count)
	a.buckets.Add(slot, rank>>bucketBits, count)
}

func (a *quantile) widen(slot uint32, lo, hi uint64) {
	h := a.slots.Get(slot)
	if h.some && h.lo <= lo && h.hi >= hi {
		return
	}
	if h.some {
		lo, hi = min(h.lo, lo), max(h.hi, hi)
	}
	p := a.slots.At(slot)
	p.some, p.lo, p.hi = true, lo, hi
}

func (a *quantile) addExact(slot uint32, rank uint64, count int64) {
	if a.slots.Get(slot).distinct > exactMax {
		return
	}
	if a.exact.Add(slot, rank, count) {
		a.slots.At(slot).distinct++
	}
}

func (a *quantile) Merge(src Acc, from, to []uint32) error {
	o := src.(*quantile)
	exact, buckets := o.exact.BySlot(from), o.buckets.BySlot(from)
	for i, s := range from {
		h := o.slots.Get(s)
		if !h.some {
			continue
		}
		a.widen(to[i], h.lo, h.hi)
		for _, e := range exact.Of(i) {
			p := o.exact.Entry(e)
			a.addExact(to[i], p.Key, p.Count)
		}
		if h.distinct > exactMax {
			a.slots.At(to[i]).distinct = exactMax + 1
		}
		for _, e := range buckets.Of(i) {
			p := o.buckets.Entry(e)
			a.buckets.Add(to[i], p.Key, p.Count)
		}
	}
	return nil
}

func (a *quantile) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Float64))
	exact, buckets := a.exact.BySlot(slots), a.buckets.BySlot(slots)
	for i, s := range slots {
		if n[i] == 0 {
			dst.AppendNull()
			continue
		}
		h, rank := a.slots.Get(s), uint64(0)
		if h.distinct <= exactMax {
			rank = pickRank(&a.exact, exact.Of(i), n[i], a.q)
		} else {
			// The middle of the bucket is within half its width of every value in it.
			rank = pickRank(&a.buckets, buckets.Of(i), n[i], a.q)<<bucketBits | 1<<(bucketBits-1)
			rank = min(max(rank, h.lo), h.hi)
		}
		appendFloat(dst, unrankFloat(rank))
	}
	return 0
}

// pickRank returns the key at which the counts, by ascending key, reach the rank of q among n.
func pickRank(p *state.Pairs, entries []uint32, n int64, q float64) uint64 {
	want := max(1, int64(math.Ceil(float64(q*float64(n)))))
	var key uint64
	for _, e := range entries {
		pair := p.Entry(e)
		key = pair.Key
		if want -= pair.Count; want <= 0 {
			break
		}
	}
	return key
}

func (a *quantile) Snapshot(e *tuple.Encoder, slots []uint32) {
	exact, buckets := a.exact.BySlot(slots), a.buckets.BySlot(slots)
	for i, s := range slots {
		h := a.slots.Get(s)
		dense := h.distinct > exactMax
		e.Bool(dense)
		if dense {
			e.Uint(h.lo)
			e.Uint(h.hi)
			encodePairs(e, &a.buckets, buckets.Of(i))
		} else {
			encodePairs(e, &a.exact, exact.Of(i))
		}
	}
}

func encodePairs(e *tuple.Encoder, p *state.Pairs, entries []uint32) {
	e.Uint(uint64(len(entries)))
	for _, i := range entries {
		x := p.Entry(i)
		e.Uint(x.Key)
		e.Uint(uint64(x.Count))
	}
}

func (a *quantile) Restore(d *tuple.Decoder, n int) {
	a.Grow(n)
	for slot := range uint32(n) {
		dense := d.Bool()
		if dense {
			a.widen(slot, d.Uint(), d.Uint())
			a.slots.At(slot).distinct = exactMax + 1
		}
		pairs := d.Count(2)
		if !dense && pairs > exactMax {
			d.Fail("%d exact values, at most %d", pairs, exactMax)
		}
		for range pairs {
			key, count := d.Uint(), int64(d.Uint())
			if d.Err() != nil {
				return
			}
			if dense {
				a.buckets.Add(slot, key, count)
			} else {
				a.add(slot, key, count)
			}
		}
	}
}

func (a *quantile) Clear() {
	a.exact.Clear()
	a.buckets.Clear()
	a.slots.Clear()
}

func (a *quantile) Fork() Acc {
	return &quantile{arg: a.arg, q: a.q, exact: a.exact.Fork(), buckets: a.buckets.Fork(), slots: a.slots.Fork()}
}

func (a *quantile) Bytes() int64 { return a.exact.Bytes() + a.buckets.Bytes() + a.slots.Bytes() }
