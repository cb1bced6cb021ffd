package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// keyTable gives keys slots, by which an operator keeps what it knows of each key, and a list from the key longest
// unused to the one used last, from whose front keys are forgotten. Slots of forgotten keys are used again; their numbers
// show nowhere. The zero value is an empty table.
type keyTable struct {
	slots  state.Array[keySlot]
	heads  state.Array[uint32] // per bucket: slot + 1, 0 is empty
	mask   uint32
	free   uint32 // first free slot + 1
	oldest uint32 // slot + 1
	newest uint32
	count  int
	text   int64 // bytes of keys
}

type keySlot struct {
	key   string
	hash  uint32
	used  tuple.Time // when it was last used
	chain uint32     // next slot + 1 of the bucket, or of the free slots
	older uint32
	newer uint32
}

// find returns the slot of a key.
func (t *keyTable) find(key []byte) (slot uint32, ok bool) {
	if t.count == 0 {
		return 0, false
	}
	h := uint32(tuple.HashBytes(key))
	for s := t.heads.Get(h & t.mask); s != 0; {
		k := t.slots.Get(s - 1)
		if k.hash == h && k.key == string(key) {
			return s - 1, true
		}
		s = k.chain
	}
	return 0, false
}

// settle makes the table flat again after a fork, as far as that is in proportion. Operators call it once a batch: entries
// are changed one by one, which alone never ends the paged form.
func (t *keyTable) settle() {
	if t.slots.Own(nil); t.slots.Flat() != nil {
		t.heads.Flatten() // it is read for every row, and hardly changes
	}
}

// insert adds a key that is not in the table, as the one used last.
func (t *keyTable) insert(key []byte, used tuple.Time) uint32 {
	if t.count >= int(t.mask) {
		t.grow()
	}
	h := uint32(tuple.HashBytes(key))
	slot := t.free
	if slot != 0 {
		t.free = t.slots.Get(slot - 1).chain
	} else {
		slot = t.slots.Append(keySlot{}) + 1
	}
	head := t.heads.At(h & t.mask)
	*t.slots.At(slot - 1) = keySlot{key: string(key), hash: h, used: used, chain: *head}
	*head = slot
	t.count++
	t.text += int64(len(key))
	t.pushNewest(slot)
	return slot - 1
}

func (t *keyTable) grow() {
	size := max(16, 2*(int(t.mask)+1))
	t.heads = state.Array[uint32]{}
	t.heads.Grow(size)
	t.mask = uint32(size - 1)
	for s := t.oldest; s != 0; {
		k := t.slots.At(s - 1)
		head := t.heads.At(k.hash & t.mask)
		k.chain, *head = *head, s
		s = k.newer
	}
}

func (t *keyTable) pushNewest(slot uint32) {
	k := t.slots.At(slot - 1)
	k.older, k.newer = t.newest, 0
	if t.newest != 0 {
		t.slots.At(t.newest - 1).newer = slot
	} else {
		t.oldest = slot
	}
	t.newest = slot
}

func (t *keyTable) unlink(slot uint32) {
	k := t.slots.Get(slot - 1)
	if k.older != 0 {
		t.slots.At(k.older - 1).newer = k.newer
	} else {
		t.oldest = k.newer
	}
	if k.newer != 0 {
		t.slots.At(k.newer - 1).older = k.older
	} else {
		t.newest = k.older
	}
}

// touch makes a slot's key the one used last.
func (t *keyTable) touch(slot uint32, used tuple.Time) {
	if t.newest != slot+1 {
		t.unlink(slot + 1)
		t.pushNewest(slot + 1)
	}
	t.slots.At(slot).used = used
}

// remove forgets a slot's key.
func (t *keyTable) remove(slot uint32) {
	k := t.slots.Get(slot)
	t.unlink(slot + 1)
	link := t.heads.At(k.hash & t.mask)
	for *link != slot+1 {
		link = &t.slots.At(*link - 1).chain
	}
	*link = k.chain
	*t.slots.At(slot) = keySlot{chain: t.free}
	t.free = slot + 1
	t.count--
	t.text -= int64(len(k.key))
}

// front returns the slot of the key longest unused.
func (t *keyTable) front() (slot uint32, ok bool) { return t.oldest - 1, t.oldest != 0 }

// after returns the slot next to a slot in order of use.
func (t *keyTable) after(slot uint32) (next uint32, ok bool) {
	n := t.slots.Get(slot).newer
	return n - 1, n != 0
}

// used returns when a slot's key was last used.
func (t *keyTable) used(slot uint32) tuple.Time { return t.slots.Get(slot).used }

// key returns a slot's key.
func (t *keyTable) key(slot uint32) string { return t.slots.Get(slot).key }

func (t *keyTable) fork() keyTable {
	f := *t
	f.slots, f.heads = t.slots.Fork(), t.heads.Fork()
	return f
}

func (t *keyTable) bytes() int64 { return t.slots.Bytes() + t.heads.Bytes() + t.text }

// snapshot appends the keys in order of use, each followed by what value writes for its slot.
func (t *keyTable) snapshot(e *tuple.Encoder, value func(slot uint32)) {
	e.Uint(uint64(t.count))
	for s, ok := t.front(); ok; s, ok = t.after(s) {
		e.String(t.key(s))
		e.Time(t.used(s))
		value(s)
	}
}

// restore reads what snapshot wrote; value reads for a new slot. Keys must consist of values of the given types.
func (t *keyTable) restore(d *tuple.Decoder, types []tuple.Type, value func(slot uint32)) {
	for range d.Count(2) {
		key := d.Bytes()
		used := d.Time()
		if d.Err() != nil {
			return
		}
		k := tuple.NewDecoder(key)
		checkValues(k, types)
		if err := k.Close(); err != nil {
			d.Fail("key: %v", err)
			return
		}
		if _, dup := t.find(key); dup {
			d.Fail("key %x twice", key)
			return
		}
		if t.newest != 0 && used < t.used(t.newest-1) {
			d.Fail("key used at %v after one used at %v", used, t.used(t.newest-1))
			return
		}
		value(t.insert(key, used))
	}
}
