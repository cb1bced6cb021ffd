package state

import "fednode/query/tuple"

// KeyWriter writes keys into columns. It is not part of the state.
type KeyWriter struct {
	cols []ValueWriter
	buf  []uint64
	null []bool
}

// NewKeyWriter returns a writer for keys of the given types.
func NewKeyWriter(types []tuple.Type) *KeyWriter {
	w := &KeyWriter{cols: make([]ValueWriter, len(types))}
	for c, t := range types {
		w.cols[c] = NewValueWriter(t)
	}
	return w
}

// Write replaces dst[c] by column c of the keys of slots.
func (w *KeyWriter) Write(dst []tuple.Column, g *Groups, slots []uint32) {
	for c := range w.cols {
		k := &g.cols[c]
		w.buf, w.null = w.buf[:0], nil
		for _, s := range slots {
			w.buf = append(w.buf, k.words.Get(s))
		}
		if g.nulls.Len() > 0 {
			w.null = make([]bool, len(slots))
			for i, s := range slots {
				w.null[i] = g.nullsOf(s)>>c&1 != 0
			}
		}
		w.cols[c].Write(&dst[c], &k.Values, w.buf, w.null)
	}
}
