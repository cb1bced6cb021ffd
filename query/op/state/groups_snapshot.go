package state

import "fednode/query/tuple"

// Snapshot appends the keys of slots, which the caller has put into an order that depends on the keys alone.
func (g *Groups) Snapshot(e *tuple.Encoder, slots []uint32) {
	e.Uint(uint64(len(slots)))
	cols := make([]tuple.Column, len(g.types))
	NewKeyWriter(g.types).Write(cols, g, slots)
	for c := range cols {
		e.Column(&cols[c])
	}
}

// Restore reads the keys that Snapshot wrote into an empty table: key i gets slot i. It returns their number. Malformed
// input is recorded in d.
func (g *Groups) Restore(d *tuple.Decoder) int {
	if len(g.types) == 0 {
		n := d.Uint()
		if n > 1 {
			d.Fail("%d groups without a key", n)
			return 0
		}
		g.n = int(n)
		return g.n
	}
	n := d.Count(1)
	cols := make([]tuple.Column, len(g.types))
	for c, t := range g.types {
		col := DecodeColumn(d, t, n)
		if col == nil {
			return 0
		}
		cols[c] = *col
	}
	g.Slots(cols, nil, n)
	if g.n != n {
		d.Fail("%d keys, %d of them different", n, g.n)
		return 0
	}
	return n
}

// Compact returns a table with the keys of the slots that keep holds, in its order, and the new slot of each old one
// (None for those let go). The old table is left as it is.
func (g *Groups) Compact(keep []uint32) (*Groups, []uint32) {
	c := NewGroups(g.types)
	moved := make([]uint32, g.n)
	for i := range moved {
		moved[i] = None
	}
	for i, s := range c.Import(g, keep) {
		moved[keep[i]] = s
	}
	return c, moved
}

// Import returns the slots here of keys of another table of the same types, adding those that are new. The result is
// valid until the next call.
func (g *Groups) Import(from *Groups, slots []uint32) []uint32 {
	if len(g.types) == 0 {
		return g.only(len(slots))
	}
	cols := make([]tuple.Column, len(g.types))
	NewKeyWriter(g.types).Write(cols, from, slots)
	return g.Slots(cols, nil, len(slots))
}
