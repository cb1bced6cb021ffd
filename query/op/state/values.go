package state

import (
	"bytes"
	"math"

	"fednode/query/tuple"
)

// Values turns the values of one column type into 64-bit words and back: numbers are their own words, binary values and
// lists are numbered. Within one Values equal values have equal words. The state is what has been numbered.
type Values struct {
	t      tuple.Type
	values Interner
	remaps remaps
	row    []uint64 // scratch: the word of each row
	enc    []byte
}

// NewValues returns an empty table for values of a type.
func NewValues(t tuple.Type) Values { return Values{t: t} }

// Type returns the type of the values.
func (k *Values) Type() tuple.Type { return k.t }

// Words returns the word of each row of a column without nulls. It is valid until the next call.
func (k *Values) Words(c *tuple.Column) []uint64 {
	k.fill(c, nil, c.Rows(), nil, 0)
	return k.row
}

// Compare orders two words by their values, lists by an encoding that depends on the values alone.
func (k *Values) Compare(x, y uint64) int {
	switch {
	case x == y:
		return 0
	case k.t.Kind.IsBinary() || k.t.Kind == tuple.List:
		return bytes.Compare(k.values.At(uint32(x)), k.values.At(uint32(y)))
	case k.t.Kind == tuple.Float64:
		return tuple.CompareFloat(math.Float64frombits(x), math.Float64frombits(y))
	case int64(x) < int64(y):
		return -1
	}
	return 1
}

// Numbered reports whether words are ids that mean something in this table alone.
func (k *Values) Numbered() bool { return k.t.Kind.IsBinary() || k.t.Kind == tuple.List }

// Import translates words of another table of the type into words of this one.
type Import struct {
	to, from *Values
	ids      []uint32 // by id there: id here plus one; nil where words are the same
}

// Import prepares to take words over from another table.
func (k *Values) Import(from *Values) Import {
	m := Import{to: k, from: from}
	if k.Numbered() && k != from {
		m.ids = make([]uint32, from.values.Len())
	}
	return m
}

// Word returns the word here of a word there, adding the value if it is new.
func (m *Import) Word(word uint64) uint64 {
	if m.ids == nil {
		return word
	}
	id := &m.ids[word]
	if *id == 0 {
		*id = m.to.values.Intern(m.from.values.At(uint32(word))) + 1
	}
	return uint64(*id - 1)
}

// Same reports whether words stay as they are.
func (m *Import) Same() bool { return m.ids == nil }

// Hash returns a hash of the value of a word, the same in every table and on every machine.
func (k *Values) Hash(word uint64) uint64 {
	if k.Numbered() {
		return tuple.HashBytes(k.values.At(uint32(word)))
	}
	return tuple.Mix64(word + 0x9E3779B97F4A7C15)
}

// Clear forgets all values; memory that no fork shares is not kept.
func (k *Values) Clear() {
	if k.values.Len() > 0 {
		k.values, k.remaps = Interner{}, remaps{}
	}
}

// Release gives the scratch back.
func (k *Values) Release() { k.row, k.enc = nil, nil }

// Fork returns an independent copy.
func (k *Values) Fork() Values {
	return Values{t: k.t, values: k.values.Fork(), remaps: k.remaps.fork()}
}

// Bytes returns the memory held.
func (k *Values) Bytes() int64 { return k.values.Bytes() + k.remaps.bytes() }
