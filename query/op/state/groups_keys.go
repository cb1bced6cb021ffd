package state

import (
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
		k := &g.cols[c]
		if r := k.Compare(k.words.Get(a), k.words.Get(b)); r != 0 {
			return r
		}
	}
	return 0
}

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
