package stream

import "fednode/query/tuple"

// column is what the encoder keeps of one column: its dictionary on the wire, how source codes map to it, and the codes
// of the loaded batch.
type column struct {
	typ   tuple.Type
	plain bool

	dict  *tuple.DictBuilder
	sent  int  // values the receiver has
	begun bool // the receiver has a dictionary, if only an empty one
	codes []uint16
	known [4]mapping
	next  int // mapping to be replaced next
}

// mapping holds, for each code of one source dictionary, the wire code plus one, or 0.
type mapping struct {
	line  *tuple.Lineage
	codes []uint32
}

// restart empties the dictionary: the receiver will start anew.
func (c *column) restart() {
	if c.plain || !c.typ.Kind.IsBinary() {
		c.dict = nil
		return
	}
	c.dict, c.sent, c.begun = tuple.NewDictBuilder(), 0, false
	for i := range c.known {
		c.known[i].line = nil
	}
}

// index fills codes for the selected rows, adding their values to the dictionary. It returns false when the dictionary
// would pass its limits.
func (c *column) index(src *tuple.Column, sel []uint32, n int) bool {
	if cap(c.codes) < n {
		c.codes = make([]uint16, n)
	}
	c.codes = c.codes[:n]
	if src.Dict == nil { // every row is null
		clear(c.codes)
		return true
	}
	m := c.mapping(src.Dict)
	if sel == nil && src.Valid == nil {
		return c.indexAll(src, m)
	}
	for i := range c.codes {
		row := i
		if sel != nil {
			row = int(sel[i])
		}
		if src.IsNull(row) {
			c.codes[i] = 0
			continue
		}
		code := src.Code[row]
		if m[code] == 0 && !c.learn(m, src.Dict, code) {
			return false
		}
		c.codes[i] = uint16(m[code] - 1)
	}
	return true
}

func (c *column) indexAll(src *tuple.Column, m []uint32) bool {
	codes := c.codes
	for i, code := range src.Code[:len(codes)] {
		w := m[code]
		if w == 0 {
			if !c.learn(m, src.Dict, code) {
				return false
			}
			w = m[code]
		}
		codes[i] = uint16(w - 1)
	}
	return true
}

// mapping returns the map of a source dictionary, long enough for all its codes.
func (c *column) mapping(d *tuple.Dict) []uint32 {
	for i := range c.known {
		if m := &c.known[i]; m.line == d.Lineage() {
			if grow := d.Len() - len(m.codes); grow > 0 {
				m.codes = append(m.codes, make([]uint32, grow)...)
			}
			return m.codes
		}
	}
	m := &c.known[c.next]
	c.next = (c.next + 1) % len(c.known)
	m.line = d.Lineage()
	if cap(m.codes) < d.Len() {
		m.codes = make([]uint32, d.Len())
	}
	m.codes = m.codes[:d.Len()]
	clear(m.codes)
	return m.codes
}

// learn gives a source code its wire code.
func (c *column) learn(m []uint32, d *tuple.Dict, code uint32) bool {
	v := d.At(code)
	if c.dict.Len() >= tuple.DictMaxValues || c.dict.Size()+len(v) > tuple.DictMaxBytes {
		wire, ok := c.dict.Find(v)
		m[code] = wire + 1
		return ok
	}
	m[code] = c.dict.Intern(v) + 1
	return true
}
