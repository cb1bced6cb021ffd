package state

import (
	"slices"
	"unsafe"

	"fednode/query/tuple"
)

// Pairs counts 64-bit keys for each slot: one table of (slot, key) pairs. The zero value is empty.
type Pairs struct {
	entries Array[Pair]
	index   Array[uint32] // open addressing: entry+1, 0 is empty
	mask    uint32
}

// Pair is one key of a slot and its count.
type Pair struct {
	Key   uint64
	Count int64
	Slot  uint32
	// hash is the low half of the pair's hash, to grow without hashing again.
	hash uint32
}

// Len returns the number of pairs.
func (p *Pairs) Len() int { return p.entries.Len() }

// Entry returns a pair.
func (p *Pairs) Entry(i uint32) Pair { return p.entries.Get(i) }

// Add adds delta to the count of a key of a slot, and reports whether the key is new there.
func (p *Pairs) Add(slot uint32, key uint64, delta int64) bool {
	if 2*p.Len() >= int(p.mask) {
		p.growIndex()
	}
	h := uint32(tuple.Mix64(key ^ uint64(slot)*0x9E3779B97F4A7C15))
	i := h & p.mask
	for ; ; i = (i + 1) & p.mask {
		e := p.index.Get(i)
		if e == 0 {
			break
		}
		if x := p.entries.Get(e - 1); x.Key == key && x.Slot == slot {
			p.entries.At(e - 1).Count += delta
			return false
		}
	}
	*p.index.At(i) = p.entries.Append(Pair{Key: key, Count: delta, Slot: slot, hash: h}) + 1
	return true
}

func (p *Pairs) growIndex() {
	size := max(64, 2*(int(p.mask)+1))
	var index Array[uint32]
	index.Grow(size)
	flat, mask := index.Flat(), uint32(size-1)
	for e := range uint32(p.Len()) {
		i := p.entries.Get(e).hash & mask
		for flat[i] != 0 {
			i = (i + 1) & mask
		}
		flat[i] = e + 1
	}
	p.index, p.mask = index, mask
}

// Clear empties the table and keeps what memory no fork shares, unless most of it was not needed this time.
func (p *Pairs) Clear() {
	few := int(p.mask) > 32*max(p.Len(), PageSize)
	p.entries.Clear()
	if few || p.index.Flat() == nil {
		p.index, p.mask = Array[uint32]{}, 0
		return
	}
	p.index.Clear()
	p.index.Grow(int(p.mask) + 1)
}

// Fork returns an independent copy.
func (p *Pairs) Fork() Pairs {
	return Pairs{entries: p.entries.Fork(), index: p.index.Fork(), mask: p.mask}
}

// Bytes returns the memory held.
func (p *Pairs) Bytes() int64 {
	return p.entries.Bytes() + p.index.Bytes()
}

// PairBytes is about what one pair takes.
const PairBytes = int64(unsafe.Sizeof(Pair{})) + 8

// PairLists are the pairs of some slots, grouped.
type PairLists struct {
	entries []uint32
	off     []uint32
}

// Of returns the pairs of the i-th slot by ascending key.
func (l PairLists) Of(i int) []uint32 {
	if len(l.off) == 0 {
		return nil
	}
	return l.entries[l.off[i]:l.off[i+1]]
}

// BySlot groups the pairs of slots, which are distinct, in the order given.
func (p *Pairs) BySlot(slots []uint32) PairLists {
	if p.Len() == 0 || len(slots) == 0 {
		return PairLists{}
	}
	place := make([]uint32, slices.Max(slots)+1) // place among slots, plus one
	for i, s := range slots {
		place[s] = uint32(i) + 1
	}
	off := make([]uint32, len(slots)+1)
	for e := range uint32(p.Len()) {
		if s := p.entries.Get(e).Slot; int(s) < len(place) && place[s] != 0 {
			off[place[s]]++
		}
	}
	for i := range slots {
		off[i+1] += off[i]
	}
	entries, next := make([]uint32, off[len(slots)]), slices.Clone(off)
	for e := range uint32(p.Len()) {
		if s := p.entries.Get(e).Slot; int(s) < len(place) && place[s] != 0 {
			entries[next[place[s]-1]] = e
			next[place[s]-1]++
		}
	}
	l := PairLists{entries: entries, off: off}
	for i := range slots {
		slices.SortFunc(l.Of(i), func(a, b uint32) int {
			x, y := p.entries.Get(a).Key, p.entries.Get(b).Key
			switch {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
	}
	return l
}
