package state

import "fednode/query/tuple"

// fill sets the column's scratch to the word of each row's value, and bit in null where the value is null.
func (k *Values) fill(c *tuple.Column, sel []uint32, n int, null []uint64, bit uint64) {
	k.row = resize(k.row, n)
	switch {
	case k.t.Kind.IsBinary():
		k.fillIDs(c, sel)
	case k.t.Kind.IsInt():
		fillInts(k.row, c.Int, sel)
	case k.t.Kind == tuple.Float64:
		for i := range k.row {
			k.row[i] = tuple.FloatBits(c.Float[rowAt(sel, i)])
		}
	case k.t.Kind == tuple.Bool:
		for i := range k.row {
			k.row[i] = 0
			if c.Bool[rowAt(sel, i)] {
				k.row[i] = 1
			}
		}
	case k.t.Kind == tuple.List:
		for i := range k.row {
			if r := rowAt(sel, i); !c.IsNull(r) {
				k.row[i] = uint64(k.values.Intern(k.encode(c, r)))
			}
		}
	}
	if c.Valid == nil {
		return
	}
	for i := range k.row {
		if !c.Valid[rowAt(sel, i)] {
			k.row[i] = 0
			null[i] |= bit
		}
	}
}

func rowAt(sel []uint32, i int) int {
	if sel != nil {
		return int(sel[i])
	}
	return i
}

func fillInts(dst []uint64, src []int64, sel []uint32) {
	if sel == nil {
		for i, v := range src[:len(dst)] {
			dst[i] = uint64(v)
		}
		return
	}
	for i, s := range sel {
		dst[i] = uint64(src[s])
	}
}

func (k *Values) fillIDs(c *tuple.Column, sel []uint32) {
	ids := k.remaps.paid(c.Dict, len(k.row))
	for i := range k.row {
		r := rowAt(sel, i)
		if c.IsNull(r) {
			continue
		}
		code := c.Code[r]
		if ids == nil || int(code) >= len(ids.at) {
			k.row[i] = uint64(k.values.Intern(c.Dict.At(code)))
			continue
		}
		id := ids.at[code]
		if id == None {
			id = k.values.Intern(c.Dict.At(code))
			ids.set(code, id)
		}
		k.row[i] = uint64(id)
	}
}

// encode returns list row r in a form that is equal for equal lists only.
func (k *Values) encode(c *tuple.Column, r int) []byte {
	k.enc = appendList(k.enc[:0], c, r)
	return k.enc
}

// absent is the word of a value that the table has not seen: no id reaches it.
const absent = ^uint64(0)

// findWords is words without adding values: what is not interned gets a word that no slot has.
func (g *Groups) findWords(cols []tuple.Column, sel []uint32, n int) {
	g.mix, g.null = resize(g.mix, n), resize(g.null, n)
	clear(g.null)
	for c := range g.cols {
		k := &g.cols[c]
		if !k.t.Kind.IsBinary() && k.t.Kind != tuple.List {
			k.fill(&cols[c], sel, n, g.null, uint64(1)<<c)
			continue
		}
		k.row = resize(k.row, n)
		for i := range k.row {
			r := rowAt(sel, i)
			if cols[c].IsNull(r) {
				k.row[i] = 0
				g.null[i] |= uint64(1) << c
				continue
			}
			k.row[i] = k.findWord(&cols[c], r)
		}
	}
	g.hashRows()
}

func (k *Values) findWord(c *tuple.Column, r int) uint64 {
	var id uint32
	if k.t.Kind == tuple.List {
		id = k.values.Find(k.encode(c, r))
	} else if m := k.remaps.of(c.Dict); m == nil {
		id = k.values.Find(c.Bin(r))
	} else if id = m.at[c.Code[r]]; id == None {
		if id = k.values.Find(c.Bin(r)); id != None {
			m.set(c.Code[r], id)
		}
	}
	if id == None {
		return absent
	}
	return uint64(id)
}
