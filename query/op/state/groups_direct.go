package state

import "fednode/query/tuple"

// slotsByCode is Slots for a single binary column: one load a row when the codes are known.
func (g *Groups) slotsByCode(c *tuple.Column, sel []uint32, n int) []uint32 {
	g.slots = resize(g.slots, n)
	m := g.cols[0].remaps.of(c.Dict)
	if m == nil || c.Valid != nil {
		return g.slotsOneByOne(c, sel, m)
	}
	g.complete(m, c.Dict, n)
	if sel == nil && m.same == len(m.at) {
		return c.Code[:n]
	}
	var seen uint32
	if sel == nil {
		for i, code := range c.Code[:n] {
			s := m.at[code]
			g.slots[i] = s
			seen |= s
		}
	} else {
		for i, r := range sel {
			s := m.at[c.Code[r]]
			g.slots[i] = s
			seen |= s
		}
	}
	// Slots stay below 2^31, so the top bit says that one was None.
	if seen>>31 != 0 {
		g.resolve(c, sel, m)
	}
	return g.slots
}

// resolve gives the rows whose code had no slot one.
func (g *Groups) resolve(c *tuple.Column, sel []uint32, m *remap) {
	for i, s := range g.slots {
		if s != None {
			continue
		}
		code := c.Code[rowAt(sel, i)]
		if m.at[code] == None {
			m.set(code, g.slotOfValue(c.Dict.At(code)))
		}
		g.slots[i] = m.at[code]
	}
}

// complete gives the codes of a dictionary that is not much larger than the batch their slots at once: while the table
// is new they become their own slots, and the remap falls away. Slots that no row ever uses cost memory alone.
func (g *Groups) complete(m *remap, d *tuple.Dict, rows int) {
	if m.same != g.n || m.same == len(m.at) || d.Len()-m.same > 4*max(rows, PageSize) {
		return
	}
	for code := m.same; code < d.Len(); code++ {
		if m.at[code] == None {
			m.set(uint32(code), g.slotOfValue(d.At(uint32(code))))
			g.ahead++
		}
	}
}

func (g *Groups) slotsOneByOne(c *tuple.Column, sel []uint32, m *remap) []uint32 {
	for i := range g.slots {
		r := rowAt(sel, i)
		switch {
		case c.IsNull(r):
			g.slots[i] = g.slotOfNull()
		case m == nil:
			g.slots[i] = g.slotOfValue(c.Bin(r))
		default:
			s := m.at[c.Code[r]]
			if s == None {
				s = g.slotOfValue(c.Bin(r))
				m.set(c.Code[r], s)
			}
			g.slots[i] = s
		}
	}
	return g.slots
}

func (g *Groups) slotOfValue(v []byte) uint32 {
	id := g.cols[0].values.Intern(v)
	if int(id) < g.byID.Len() {
		if s := g.byID.Get(id); s != 0 {
			return s - 1
		}
	}
	s := uint32(g.n)
	g.n++
	g.cols[0].words.Append(uint64(id))
	g.byID.Grow(int(id) + 1)
	*g.byID.At(id) = s + 1
	return s
}

func (g *Groups) slotOfNull() uint32 {
	if g.nullSlot == 0 {
		s := uint32(g.n)
		g.n++
		g.cols[0].words.Append(0)
		g.nulls.Grow(g.n)
		*g.nulls.At(s) = 1
		g.nullSlot = s + 1
	}
	return g.nullSlot - 1
}

// findByCode is slotsByCode without adding.
func (g *Groups) findByCode(c *tuple.Column, sel []uint32) []uint32 {
	m := g.cols[0].remaps.of(c.Dict)
	for i := range g.slots {
		r := rowAt(sel, i)
		switch {
		case c.IsNull(r):
			g.slots[i] = g.nullSlot - 1 // None without a null
		case m == nil:
			g.slots[i] = g.findValue(c.Bin(r))
		default:
			s := m.at[c.Code[r]]
			if s == None {
				if s = g.findValue(c.Bin(r)); s != None {
					m.set(c.Code[r], s)
				}
			}
			g.slots[i] = s
		}
	}
	return g.slots
}

func (g *Groups) findValue(v []byte) uint32 {
	id := g.cols[0].values.Find(v)
	if id == None {
		return None
	}
	return g.byID.Get(id) - 1
}
