package state

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"fednode/query/tuple"
)

// Order returns all slots in the canonical order of their keys, column by column: nulls first, numbers by value, strings
// by bytes. It is remembered, so that new keys alone cost. The caller does not change it.
func (g *Groups) Order() []uint32 {
	if len(g.order) == g.n {
		return g.order
	}
	fresh := make([]uint32, 0, g.n-len(g.order))
	for s := len(g.order); s < g.n; s++ {
		fresh = append(fresh, uint32(s))
	}
	slices.SortFunc(fresh, g.Compare)
	merged := make([]uint32, 0, g.n)
	old := g.order
	for len(old) > 0 && len(fresh) > 0 {
		if g.Compare(old[0], fresh[0]) < 0 {
			merged, old = append(merged, old[0]), old[1:]
		} else {
			merged, fresh = append(merged, fresh[0]), fresh[1:]
		}
	}
	g.order = append(append(merged, old...), fresh...)
	return g.order
}

// Compare orders two slots by their keys.
func (g *Groups) Compare(a, b uint32) int {
	an, bn := g.nullsOf(a), g.nullsOf(b)
	for c := range g.cols {
		bit := uint64(1) << c
		if an&bit != 0 || bn&bit != 0 {
			if r := int(bn&bit>>c) - int(an&bit>>c); r != 0 {
				return r
			}
			continue
		}
		if r := g.cols[c].compare(a, b); r != 0 {
			return r
		}
	}
	return 0
}

func (k *keyColumn) compare(a, b uint32) int {
	x, y := k.words.Get(a), k.words.Get(b)
	switch {
	case x == y:
		return 0
	case k.kind.IsBinary():
		return bytes.Compare(k.values.At(uint32(x)), k.values.At(uint32(y)))
	case k.kind == tuple.Float64:
		return tuple.CompareFloat(math.Float64frombits(x), math.Float64frombits(y))
	case k.kind == tuple.List:
		// Not the order of the elements, but one that depends on the values alone.
		return bytes.Compare(k.values.At(uint32(x)), k.values.At(uint32(y)))
	case int64(x) < int64(y):
		return -1
	}
	return 1
}

// KeyWriter writes keys into columns. It keeps a dictionary for each binary column over all its calls, so that readers
// see one growing dictionary, and is not part of the state.
type KeyWriter struct {
	types []tuple.Type
	dicts []dictWriter
}

// dictWriter numbers values of an interner in a dictionary for output.
type dictWriter struct {
	dict *tuple.DictBuilder
	of   *Interner
	code []uint32 // by id: code+1
}

// NewKeyWriter returns a writer for keys of the given types.
func NewKeyWriter(types []tuple.Type) *KeyWriter {
	w := &KeyWriter{types: types, dicts: make([]dictWriter, len(types))}
	for c, t := range types {
		if t.Kind.IsBinary() || t.Kind == tuple.List && t.Elem.IsBinary() {
			w.dicts[c].dict = tuple.NewDictBuilder()
		}
	}
	return w
}

// Write replaces dst[c] by column c of the keys of slots.
func (w *KeyWriter) Write(dst []tuple.Column, g *Groups, slots []uint32) {
	for c := range w.types {
		w.column(&dst[c], g, c, slots)
	}
}

func (w *KeyWriter) column(dst *tuple.Column, g *Groups, c int, slots []uint32) {
	dst.Reset(w.types[c])
	k, d := &g.cols[c], &w.dicts[c]
	if d.dict != nil {
		d.follow(&k.values)
	}
	for _, s := range slots {
		if g.nullsOf(s)>>c&1 != 0 {
			dst.AppendNull()
			continue
		}
		switch word := k.words.Get(s); {
		case k.kind.IsBinary():
			dst.Code = append(dst.Code, d.codeOf(uint32(word)))
		case k.kind.IsInt():
			dst.Int = append(dst.Int, int64(word))
		case k.kind == tuple.Float64:
			dst.Float = append(dst.Float, math.Float64frombits(word))
		case k.kind == tuple.Bool:
			dst.Bool = append(dst.Bool, word == 1)
		case k.kind == tuple.List:
			decodeList(dst, d.dict, k.values.At(uint32(word)))
		}
		if dst.Valid != nil {
			dst.Valid = append(dst.Valid, true)
		}
	}
	switch {
	case k.kind.IsBinary():
		dst.Dict = d.dict.Dict()
	case d.dict != nil:
		dst.Elem.Dict = d.dict.Dict()
	}
}

// follow prepares for values of an interner; a full dictionary is left behind.
func (d *dictWriter) follow(in *Interner) {
	if d.dict.Full() {
		d.dict.Reset()
		d.of = nil
	}
	if d.of != in {
		d.of = in
		clear(d.code)
	}
	for len(d.code) < in.Len() {
		d.code = append(d.code, 0)
	}
}

func (d *dictWriter) codeOf(id uint32) uint32 {
	if c := d.code[id]; c != 0 {
		return c - 1
	}
	c := d.dict.Intern(d.of.At(id))
	d.code[id] = c + 1
	return c
}

// decodeList appends what appendList wrote.
func decodeList(dst *tuple.Column, dict *tuple.DictBuilder, b []byte) {
	e := dst.Elem
	for len(b) > 0 {
		if b[0] == 0 {
			e.AppendNull()
			b = b[1:]
			continue
		}
		b = b[1:]
		switch k := e.Type.Kind; {
		case k.IsBinary():
			n, w := binary.Uvarint(b)
			b = b[w:]
			e.Code = append(e.Code, dict.Intern(b[:n]))
			b = b[n:]
		case k.IsInt():
			e.Int = append(e.Int, int64(binary.LittleEndian.Uint64(b)))
			b = b[8:]
		case k == tuple.Float64:
			e.Float = append(e.Float, math.Float64frombits(binary.LittleEndian.Uint64(b)))
			b = b[8:]
		default:
			e.Bool = append(e.Bool, b[0] == 1)
			b = b[1:]
		}
		if e.Valid != nil {
			e.Valid = append(e.Valid, true)
		}
	}
	dst.Off = append(dst.Off, uint32(e.Rows()))
}
