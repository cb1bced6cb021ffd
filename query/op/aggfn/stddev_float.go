package aggfn

import (
	"math"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// spreadFloat keeps count, mean and sum of squared distances from it, by Welford's update and Chan's merge. Every product
// is rounded before it is added: a fused multiply-add would differ between processors.
type spreadFloat struct {
	population bool
	m          state.Array[spread]
}

type spread struct {
	n        int64
	mean, m2 float64
}

func (s *spread) add(v float64) {
	s.n++
	d := v - s.mean
	s.mean += d / float64(s.n)
	s.m2 += float64(d * (v - s.mean))
}

func (s *spread) merge(o spread) {
	if o.n == 0 {
		return
	}
	if s.n == 0 {
		*s = o
		return
	}
	n := s.n + o.n
	d := o.mean - s.mean
	share := float64(o.n) / float64(n)
	s.m2 += o.m2 + float64(float64(d*d)*float64(float64(s.n)*share))
	s.mean += float64(d * share)
	s.n = n
}

func (a *spreadFloat) Grow(n int) { a.m.Grow(n) }

func (a *spreadFloat) Add(slots []uint32, col *tuple.Column) error {
	a.m.Own(slots)
	for i, s := range slots {
		a.m.At(s).add(col.Float[i])
	}
	return nil
}

func (a *spreadFloat) Merge(src Acc, from, to []uint32) error {
	o := src.(*spreadFloat)
	for i, s := range from {
		a.m.At(to[i]).merge(o.m.Get(s))
	}
	return nil
}

func (a *spreadFloat) Result(dst *tuple.Column, slots []uint32, n []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Float64))
	for i, s := range slots {
		if tooFew(n[i], a.population) {
			dst.AppendNull()
			continue
		}
		m, d := a.m.Get(s), float64(n[i])
		if !a.population {
			d--
		}
		appendFloat(dst, math.Sqrt(m.m2/d))
	}
	return 0
}

func (a *spreadFloat) Snapshot(e *tuple.Encoder, slots []uint32) {
	words := make([]uint64, 0, 3*len(slots))
	for _, m := range gather(&a.m, slots) {
		words = append(words, uint64(m.n), math.Float64bits(m.mean), math.Float64bits(m.m2))
	}
	e.Uint64s(words)
}

func (a *spreadFloat) Restore(d *tuple.Decoder, n int) {
	words := d.Uint64s()
	if len(words) != 3*n {
		d.Fail("%d words of moments, want %d", len(words), 3*n)
		return
	}
	all := make([]spread, n)
	for i := range all {
		w := words[3*i:]
		all[i] = spread{n: int64(w[0]), mean: math.Float64frombits(w[1]), m2: math.Float64frombits(w[2])}
	}
	scatter(d, &a.m, all, n)
}

func (a *spreadFloat) Clear() { a.m.Clear() }

func (a *spreadFloat) Fork() Acc { return &spreadFloat{population: a.population, m: a.m.Fork()} }

func (a *spreadFloat) Bytes() int64 { return a.m.Bytes() }
