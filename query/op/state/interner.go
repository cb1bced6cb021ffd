package state

import "fednode/query/tuple"

// None is no slot and no id.
const None = ^uint32(0)

// Interner numbers distinct binary values from 0 in order of first appearance. The zero value is empty.
type Interner struct {
	refs   Array[valueRef]
	index  Array[uint32] // open addressing: id+1, 0 is empty
	mask   uint32
	chunks [][]byte // values end to end; a chunk is never moved
	size   int64
	// numbering identifies what ids mean: it changes whenever an id may mean another value.
	numbering *owner
}

// valueRef is where a value lies. hash is the low half of its hash, to skip most comparisons and to grow the index.
type valueRef struct{ chunk, off, n, hash uint32 }

const (
	minChunk = 256
	maxChunk = 64 << 10
)

// Len returns the number of values.
func (t *Interner) Len() int { return t.refs.Len() }

// At returns the value of an id; the caller does not change it. It stays valid for ever.
func (t *Interner) At(id uint32) []byte {
	r := t.refs.Get(id)
	return t.chunks[r.chunk][r.off : r.off+r.n : r.off+r.n]
}

// Hash returns the low half of the hash of a value.
func (t *Interner) Hash(id uint32) uint32 { return t.refs.Get(id).hash }

// Find returns the id of v, or None.
func (t *Interner) Find(v []byte) uint32 {
	if t.mask == 0 {
		return None
	}
	id, _ := t.find(v, uint32(tuple.HashBytes(v)))
	return id
}

// find returns the id of v, or None and the free place in the index.
func (t *Interner) find(v []byte, h uint32) (id, place uint32) {
	for i := h & t.mask; ; i = (i + 1) & t.mask {
		e := t.index.Get(i)
		if e == 0 {
			return None, i
		}
		if r := t.refs.Get(e - 1); r.hash == h && string(t.At(e-1)) == string(v) {
			return e - 1, i
		}
	}
}

// Intern returns the id of v, adding a copy of v if it is new.
func (t *Interner) Intern(v []byte) uint32 {
	if 2*t.Len() >= int(t.mask) {
		t.growIndex()
	}
	h := uint32(tuple.HashBytes(v))
	id, place := t.find(v, h)
	if id != None {
		return id
	}
	r := t.store(v)
	r.hash = h
	id = t.refs.Append(r)
	*t.index.At(place) = id + 1
	return id
}

func (t *Interner) store(v []byte) valueRef {
	last := len(t.chunks) - 1
	if last < 0 || cap(t.chunks[last])-len(t.chunks[last]) < len(v) {
		size := minChunk
		if last >= 0 {
			size = min(2*cap(t.chunks[last]), maxChunk)
		}
		t.chunks = append(t.chunks, make([]byte, 0, max(size, len(v))))
		last++
		t.size += int64(cap(t.chunks[last]))
	}
	c := t.chunks[last]
	t.chunks[last] = append(c, v...)
	return valueRef{chunk: uint32(last), off: uint32(len(c)), n: uint32(len(v))}
}

func (t *Interner) growIndex() {
	size := max(16, 2*(int(t.mask)+1))
	var index Array[uint32]
	index.Grow(size)
	flat, mask := index.Flat(), uint32(size-1)
	for id := range uint32(t.Len()) {
		i := t.Hash(id) & mask
		for flat[i] != 0 {
			i = (i + 1) & mask
		}
		flat[i] = id + 1
	}
	t.index, t.mask = index, mask
	if t.numbering == nil {
		t.numbering = new(owner)
	}
}

// Fork returns an independent interner with the same ids.
func (t *Interner) Fork() Interner {
	// With no room left in the last chunk, and none in the list of chunks, both sides go on in memory of their own. A
	// chunk that an earlier fork closed is in shared memory and is not touched.
	if last := len(t.chunks) - 1; last >= 0 {
		if c := t.chunks[last]; len(c) < cap(c) {
			t.chunks[last] = c[:len(c):len(c)]
		}
		t.chunks = t.chunks[: last+1 : last+1]
	}
	return Interner{
		refs: t.refs.Fork(), index: t.index.Fork(), mask: t.mask, chunks: t.chunks, size: t.size, numbering: new(owner),
	}
}

// Bytes returns the memory held.
func (t *Interner) Bytes() int64 { return t.refs.Bytes() + t.index.Bytes() + t.size }
