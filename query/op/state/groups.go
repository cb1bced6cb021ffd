package state

import (
	"math/bits"

	"fednode/query/tuple"
)

// Groups numbers keys of one or more columns from 0 in order of first appearance: the slot of a key. Null is a value like
// any other. Slots are never given to another key; what has become stale goes by Compact, into a new table.
type Groups struct {
	types []tuple.Type
	cols  []keyColumn
	n     int
	nulls Array[uint64] // bit c of entry s: column c is null in slot s; empty while no key has a null
	index Array[uint32] // by hash of the key: slot+1, 0 is empty; not used when direct
	mask  uint32

	// A single binary column is direct: values have one slot each, by id.
	direct   bool
	byID     Array[uint32] // id → slot+1
	nullSlot uint32        // slot+1 of null
	ahead    int           // slots given out with a whole dictionary

	order []uint32 // slots in order of their keys, for the first len(order) slots; never written in place

	// Scratch of one call.
	slots []uint32
	mix   []uint64
	null  []uint64
}

// keyColumn holds one column of the keys by slot.
type keyColumn struct {
	Values
	words Array[uint64]
}

// MaxKeyColumns is the largest number of columns of a key.
const MaxKeyColumns = 64

// NewGroups returns an empty table for keys of the given types, at most MaxKeyColumns.
func NewGroups(types []tuple.Type) *Groups {
	g := &Groups{types: types, cols: make([]keyColumn, len(types))}
	for i, t := range types {
		g.cols[i].Values = NewValues(t)
	}
	g.direct = len(types) == 1 && types[0].Kind.IsBinary()
	return g
}

// Types returns the types of the key columns.
func (g *Groups) Types() []tuple.Type { return g.types }

// Len returns the number of slots.
func (g *Groups) Len() int { return g.n }

// Ahead returns how many slots were given out with the rest of their dictionary, before a row had their key.
func (g *Groups) Ahead() int { return g.ahead }

// Slots returns the slot of the key of each row, adding keys that are new. cols are the key columns; rows are those that
// sel names, or the first n where sel is nil. The result is valid until the next call; it may be the codes of the
// column itself, so the caller does not change it.
func (g *Groups) Slots(cols []tuple.Column, sel []uint32, n int) []uint32 {
	if sel != nil {
		n = len(sel)
	}
	if len(g.cols) == 0 {
		return g.only(n)
	}
	if g.direct {
		return g.slotsByCode(&cols[0], sel, n)
	}
	g.words(cols, sel, n)
	for i, h := range g.mix {
		g.slots[i] = g.slotOf(i, uint32(h))
	}
	return g.slots
}

// Find is Slots without adding: the slot of a key that is not there is None.
func (g *Groups) Find(cols []tuple.Column, sel []uint32, n int) []uint32 {
	if sel != nil {
		n = len(sel)
	}
	if len(g.cols) == 0 {
		g.slots = resize(g.slots, n)
		for i := range g.slots {
			g.slots[i] = uint32(g.n) - 1 // None before the first row
		}
		return g.slots
	}
	g.slots = resize(g.slots, n)
	if g.direct {
		return g.findByCode(&cols[0], sel)
	}
	g.findWords(cols, sel, n)
	for i, h := range g.mix {
		g.slots[i] = g.lookup(i, uint32(h))
	}
	return g.slots
}

// only serves keys of no column: all rows are one group.
func (g *Groups) only(n int) []uint32 {
	if n > 0 {
		g.n = 1
	}
	g.slots = resize(g.slots, n)
	clear(g.slots)
	return g.slots
}

// words fills the scratch with each row's key: a word a column, the nulls, and the hash of all.
func (g *Groups) words(cols []tuple.Column, sel []uint32, n int) {
	g.slots, g.mix, g.null = resize(g.slots, n), resize(g.mix, n), resize(g.null, n)
	clear(g.null)
	for c := range g.cols {
		g.cols[c].fill(&cols[c], sel, n, g.null, uint64(1)<<c)
	}
	g.hashRows()
}

func (g *Groups) hashRows() {
	for c := range g.cols {
		row := g.cols[c].row[:len(g.mix)]
		if c == 0 {
			for i, w := range row {
				g.mix[i] = tuple.Mix64(w)
			}
			continue
		}
		for i, w := range row {
			g.mix[i] = tuple.Mix64(bits.RotateLeft64(g.mix[i], 23) ^ w)
		}
	}
}

// slotOf returns the slot of row i of the scratch, adding it if it is new.
func (g *Groups) slotOf(i int, h uint32) uint32 {
	if 2*g.n >= int(g.mask) {
		g.growIndex()
	}
	at := h & g.mask
	for ; ; at = (at + 1) & g.mask {
		e := g.index.Get(at)
		if e == 0 {
			break
		}
		if g.equal(i, e-1) {
			return e - 1
		}
	}
	s := g.add(i)
	*g.index.At(at) = s + 1
	return s
}

func (g *Groups) lookup(i int, h uint32) uint32 {
	if g.mask == 0 {
		return None
	}
	for at := h & g.mask; ; at = (at + 1) & g.mask {
		e := g.index.Get(at)
		if e == 0 {
			return None
		}
		if g.equal(i, e-1) {
			return e - 1
		}
	}
}

func (g *Groups) equal(i int, s uint32) bool {
	for c := range g.cols {
		if g.cols[c].row[i] != g.cols[c].words.Get(s) {
			return false
		}
	}
	return g.null[i] == g.nullsOf(s)
}

func (g *Groups) nullsOf(s uint32) uint64 {
	if int(s) >= g.nulls.Len() {
		return 0
	}
	return g.nulls.Get(s)
}

// add gives row i of the scratch the next slot.
func (g *Groups) add(i int) uint32 {
	s := uint32(g.n)
	g.n++
	for c := range g.cols {
		g.cols[c].words.Append(g.cols[c].row[i])
	}
	if g.null[i] != 0 {
		g.nulls.Grow(g.n)
		*g.nulls.At(s) = g.null[i]
	}
	return s
}

func (g *Groups) growIndex() {
	size := max(16, 2*(int(g.mask)+1))
	var index Array[uint32]
	index.Grow(size)
	flat, mask := index.Flat(), uint32(size-1)
	for s := range uint32(g.n) {
		var h uint64
		for c := range g.cols {
			w := g.cols[c].words.Get(s)
			if c == 0 {
				h = tuple.Mix64(w)
			} else {
				h = tuple.Mix64(bits.RotateLeft64(h, 23) ^ w)
			}
		}
		i := uint32(h) & mask
		for flat[i] != 0 {
			i = (i + 1) & mask
		}
		flat[i] = s + 1
	}
	g.index, g.mask = index, mask
}

// Fork returns an independent table with the same slots.
func (g *Groups) Fork() *Groups {
	f := &Groups{
		types: g.types, cols: make([]keyColumn, len(g.cols)), n: g.n, nulls: g.nulls.Fork(), index: g.index.Fork(),
		mask: g.mask, direct: g.direct, byID: g.byID.Fork(), nullSlot: g.nullSlot, ahead: g.ahead, order: g.order,
	}
	for c := range g.cols {
		f.cols[c] = keyColumn{Values: g.cols[c].Values.Fork(), words: g.cols[c].words.Fork()}
	}
	return f
}

// Bytes returns the memory held.
func (g *Groups) Bytes() int64 {
	n := g.nulls.Bytes() + g.index.Bytes() + g.byID.Bytes() + int64(4*len(g.order))
	for c := range g.cols {
		n += g.cols[c].words.Bytes() + g.cols[c].Values.Bytes()
	}
	return n
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
