package state

import (
	"encoding/binary"
	"math"

	"fednode/query/tuple"
)

// ValueWriter writes words back into columns. It keeps a dictionary for binary values over all its calls, so that readers
// see one growing dictionary, and is not part of the state.
type ValueWriter struct {
	t     tuple.Type
	coded bool               // there are binary values
	dict  *tuple.DictBuilder // of these, from the first call on
	of    *Interner          // the values last written
	num   *owner             // what their ids mean
	code  []uint32           // by id: code+1
}

// NewValueWriter returns a writer for values of a type.
func NewValueWriter(t tuple.Type) ValueWriter {
	return ValueWriter{t: t, coded: t.Kind.IsBinary() || t.Kind == tuple.List && t.Elem.IsBinary()}
}

// Write replaces dst by the values of words; null[i], where null is not nil, makes row i a null.
func (w *ValueWriter) Write(dst *tuple.Column, k *Values, words []uint64, null []bool) {
	dst.Reset(w.t)
	if w.coded {
		w.follow(&k.values)
	}
	switch {
	case null != nil:
		for i, word := range words {
			if null[i] {
				dst.AppendNull()
			} else {
				w.append(dst, k, word)
			}
		}
	case w.t.Kind.IsInt():
		for _, word := range words {
			dst.Int = append(dst.Int, int64(word))
		}
	default:
		for _, word := range words {
			w.append(dst, k, word)
		}
	}
	switch {
	case w.dict == nil:
	case w.t.Kind == tuple.List:
		dst.Elem.Dict = w.dict.Dict()
	default:
		dst.Dict = w.dict.Dict()
	}
}

// WriteLists replaces dst, a list column of the writer's type as elements, by lists of words: row i holds
// words[off[i]:off[i+1]].
func (w *ValueWriter) WriteLists(dst *tuple.Column, k *Values, words []uint64, off []uint32) {
	dst.Reset(tuple.ListOf(w.t))
	w.Write(dst.Elem, k, words, nil)
	dst.Off = append(dst.Off[:0], off...)
}

func (w *ValueWriter) append(dst *tuple.Column, k *Values, word uint64) {
	switch {
	case w.t.Kind.IsBinary():
		dst.Code = append(dst.Code, w.codeOf(uint32(word)))
	case w.t.Kind.IsInt():
		dst.Int = append(dst.Int, int64(word))
	case w.t.Kind == tuple.Float64:
		dst.Float = append(dst.Float, math.Float64frombits(word))
	case w.t.Kind == tuple.Bool:
		dst.Bool = append(dst.Bool, word == 1)
	case w.t.Kind == tuple.List:
		decodeList(dst, w.dict, k.values.At(uint32(word)))
	}
	if dst.Valid != nil {
		dst.Valid = append(dst.Valid, true)
	}
}

// follow prepares for values of an interner; a full dictionary is left behind.
func (w *ValueWriter) follow(in *Interner) {
	switch {
	case w.dict == nil:
		w.dict = tuple.NewDictBuilder()
	case w.dict.Full():
		w.dict.Reset()
		w.of = nil
	}
	if w.of != in || w.num != in.numbering {
		w.of, w.num, w.code = in, in.numbering, w.code[:0]
	}
	if n := in.Len() - len(w.code); n > 0 {
		w.code = append(w.code, make([]uint32, n)...)
	}
}

func (w *ValueWriter) codeOf(id uint32) uint32 {
	if c := w.code[id]; c != 0 {
		return c - 1
	}
	c := w.dict.Intern(w.of.At(id))
	w.code[id] = c + 1
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
