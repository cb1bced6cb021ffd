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
	g.sort(fresh)
	if len(g.order) == 0 {
		g.order = fresh
		return fresh
	}
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

// Sort puts some slots into the canonical order of their keys. Where they are few, it costs less than Order.
func (g *Groups) Sort(slots []uint32) {
	if len(slots) > 1 {
		g.sort(slots)
	}
}

// ranked is a slot with a number that is in the order of its first key column, as far as 64 bits tell.
type ranked struct {
	rank uint64
	slot uint32
	some bool // the first column is not null
}

// sort puts slots into the order of their keys. Most pairs are told apart by their ranks, without looking the keys up.
func (g *Groups) sort(slots []uint32) {
	if len(g.cols) == 0 {
		return
	}
	all := make([]ranked, len(slots))
	skip := g.cols[0].commonPrefix(slots)
	for i, s := range slots {
		all[i] = ranked{slot: s, some: g.nullsOf(s)&1 == 0}
		if all[i].some {
			all[i].rank = g.cols[0].rank(g.cols[0].words.Get(s), skip)
		}
	}
	slices.SortFunc(all, func(a, b ranked) int {
		switch {
		case a.rank < b.rank && a.some && b.some:
			return -1
		case a.rank > b.rank && a.some && b.some:
			return 1
		}
		return g.Compare(a.slot, b.slot)
	})
	for i, r := range all {
		slots[i] = r.slot
	}
}

// commonPrefix returns how many leading bytes the binary values of slots share.
func (k *keyColumn) commonPrefix(slots []uint32) int {
	if !k.Numbered() || k.values.Len() == 0 {
		return 0
	}
	first := k.values.At(uint32(k.words.Get(slots[0])))
	n := len(first)
	for _, s := range slots[1:] {
		v := k.values.At(uint32(k.words.Get(s)))
		n = min(n, len(v))
		if !bytes.Equal(v[:n], first[:n]) {
			for n = 0; v[n] == first[n]; n++ {
			}
		}
		if n == 0 {
			break
		}
	}
	return n
}

// rank maps a word to a number in the order of the values: binary values by the eight bytes after the first skip.
func (k *Values) rank(word uint64, skip int) uint64 {
	switch {
	case k.Numbered():
		v := k.values.At(uint32(word))[skip:]
		if len(v) >= 8 {
			return binary.BigEndian.Uint64(v)
		}
		var b [8]byte
		copy(b[:], v)
		return binary.BigEndian.Uint64(b[:])
	case k.t.Kind == tuple.Float64:
		if f := math.Float64frombits(word); f < 0 {
			return ^word
		}
		return word | 1<<63
	case k.t.Kind == tuple.Bool:
		return word
	}
	return word ^ 1<<63
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
