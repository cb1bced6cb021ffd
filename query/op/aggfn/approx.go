package aggfn

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

func resolveApprox(t tuple.Type, _ []float64) (Func, error) {
	return Func{Type: tuple.Of(tuple.Int64), OrderInsensitive: true, New: func() Acc {
		return &approx{vals: state.NewValues(t), owner: new(sketchOwner)}
	}}, nil
}

// approx estimates the number of distinct values of each slot by a sketch of their hashes.
type approx struct {
	vals     state.Values
	sketches state.Array[*sketch]
	owner    *sketchOwner // of the sketches that no fork shares
	bytes    int64
}

// maxCache bounds the values that are remembered to save hashing them again, in bytes.
const maxCache = 1 << 20

func (a *approx) Grow(n int) { a.sketches.Grow(n) }

func (a *approx) Add(slots []uint32, col *tuple.Column) error {
	for i, w := range a.vals.Words(col) {
		a.add(slots[i], a.vals.Hash(w))
	}
	// What has been numbered serves as a cache only.
	if a.vals.Bytes() > maxCache {
		a.vals.Clear()
	}
	return nil
}

func (a *approx) add(slot uint32, h uint64) {
	s := a.sketches.Get(slot)
	if s != nil && s.has(h) {
		return
	}
	s = a.own(slot)
	before := s.bytes()
	s.add(h)
	a.bytes += s.bytes() - before
}

// own returns the sketch of a slot for writing.
func (a *approx) own(slot uint32) *sketch {
	s := a.sketches.Get(slot)
	switch {
	case s == nil:
		s = &sketch{owner: a.owner}
	case s.owner != a.owner:
		s = s.clone(a.owner)
	default:
		return s
	}
	*a.sketches.At(slot) = s
	return s
}

func (a *approx) Merge(src Acc, from, to []uint32) error {
	o := src.(*approx)
	for i, slot := range from {
		s := o.sketches.Get(slot)
		if s == nil {
			continue
		}
		t := a.own(to[i])
		before := t.bytes()
		t.merge(s)
		a.bytes += t.bytes() - before
	}
	return nil
}

func (a *approx) Result(dst *tuple.Column, slots []uint32, _ []int64) uint64 {
	dst.Reset(tuple.Of(tuple.Int64))
	for _, slot := range slots {
		var n int64
		if s := a.sketches.Get(slot); s != nil {
			n = s.estimate()
		}
		dst.Int = append(dst.Int, n)
	}
	return 0
}

func (a *approx) Snapshot(e *tuple.Encoder, slots []uint32) {
	for _, slot := range slots {
		s := a.sketches.Get(slot)
		if s == nil {
			s = &sketch{}
		}
		e.Bool(s.dense != nil)
		if s.dense != nil {
			e.Bytes(s.dense[:])
			continue
		}
		hashes := s.hashes(nil)
		slices.Sort(hashes)
		e.Uint64s(hashes)
	}
}

func (a *approx) Restore(d *tuple.Decoder, n int) {
	a.Grow(n)
	for slot := range uint32(n) {
		if d.Err() != nil {
			return
		}
		if !d.Bool() {
			for _, h := range d.Uint64s() {
				a.add(slot, h)
			}
			continue
		}
		raw := d.Bytes()
		if len(raw) != registerCount {
			d.Fail("%d registers, want %d", len(raw), registerCount)
			return
		}
		s := a.own(slot)
		s.dense = new([registerCount]uint8)
		for i, r := range raw {
			s.dense[i] = min(r, maxRun)
		}
		a.bytes += s.bytes()
	}
}

func (a *approx) Clear() {
	a.sketches.Clear()
	a.vals.Clear()
	a.bytes = 0
}

// Release gives the scratch back, and the cache.
func (a *approx) Release() {
	a.vals.Clear()
	a.vals.Release()
}

func (a *approx) Fork() Acc {
	a.owner = new(sketchOwner)
	return &approx{vals: state.NewValues(a.vals.Type()), sketches: a.sketches.Fork(), owner: new(sketchOwner), bytes: a.bytes}
}

func (a *approx) Bytes() int64 { return a.sketches.Bytes() + a.vals.Bytes() + a.bytes }
