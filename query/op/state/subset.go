package state

import "fednode/query/tuple"

// Subset numbers some of the slots of a larger table from 0, in order of first appearance: the place of a slot. It takes
// memory for the slots that occur, not for those of the table. The zero value is empty.
type Subset struct {
	slots Array[uint32] // by place
	index Array[uint32] // open addressing: place+1, 0 is empty
	mask  uint32
}

// Len returns the number of places.
func (s *Subset) Len() int { return s.slots.Len() }

// Slot returns the slot that has a place, which is below Len.
func (s *Subset) Slot(place uint32) uint32 { return s.slots.Get(place) }

// Find returns the place of a slot, or None.
func (s *Subset) Find(slot uint32) uint32 {
	if s.mask == 0 {
		return None
	}
	for i := spread(slot) & s.mask; ; i = (i + 1) & s.mask {
		e := s.index.Get(i)
		if e == 0 {
			return None
		}
		if s.slots.Get(e-1) == slot {
			return e - 1
		}
	}
}

// Places replaces dst by the place of each of slots, adding those that are new.
func (s *Subset) Places(dst, slots []uint32) []uint32 {
	s.slots.Own(nil) // flat again when no page is shared any more
	s.index.Own(nil)
	dst = resize(dst, len(slots))
	for i, slot := range slots {
		dst[i] = s.place(slot)
	}
	return dst
}

func (s *Subset) place(slot uint32) uint32 {
	if 2*s.Len() >= int(s.mask) {
		s.growIndex()
	}
	i := spread(slot) & s.mask
	if index, slots := s.index.Flat(), s.slots.Flat(); index != nil && slots != nil {
		for ; index[i] != 0; i = (i + 1) & s.mask {
			if p := index[i] - 1; slots[p] == slot {
				return p
			}
		}
	} else {
		for ; ; i = (i + 1) & s.mask {
			e := s.index.Get(i)
			if e == 0 {
				break
			}
			if s.slots.Get(e-1) == slot {
				return e - 1
			}
		}
	}
	p := s.slots.Append(slot)
	*s.index.At(i) = p + 1
	return p
}

// spread hashes a slot.
func spread(slot uint32) uint32 { return uint32(tuple.Mix64(uint64(slot))) }

func (s *Subset) growIndex() {
	size := max(8, 2*(int(s.mask)+1))
	var index Array[uint32]
	index.Grow(size)
	flat, mask := index.Flat(), uint32(size-1)
	for p := range uint32(s.Len()) {
		i := spread(s.slots.Get(p)) & mask
		for flat[i] != 0 {
			i = (i + 1) & mask
		}
		flat[i] = p + 1
	}
	s.index, s.mask = index, mask
}

// Fork returns an independent copy.
func (s *Subset) Fork() Subset {
	return Subset{slots: s.slots.Fork(), index: s.index.Fork(), mask: s.mask}
}

// Bytes returns the memory held.
func (s *Subset) Bytes() int64 { return s.slots.Bytes() + s.index.Bytes() }
