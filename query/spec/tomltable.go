package spec

// origin says how a table came to be, which decides whether it may be opened again.
type origin uint8

const (
	fromHeader  origin = iota + 1 // [a]: once
	fromPath                      // a of [a.b]: a header may still open it
	fromDotted                    // a of a.b = 1: further dotted keys only
	fromInline                    // a = { … }: closed
	fromElement                   // [[a]]
)

// openTable opens the table of a header; nil, and the problem recorded, if it cannot be.
func (d *tomlReader) openTable(keys []key) *Table {
	t := d.walk(keys)
	if t == nil {
		return nil
	}
	last := keys[len(keys)-1]
	e := t.index[last.name]
	if e == nil {
		return d.addTable(t, last, fromHeader)
	}
	if e.Value.Kind == TableKind && d.origin[e.Value.Table] == fromPath {
		d.origin[e.Value.Table] = fromHeader
		e.Pos, e.Value.Pos, e.Value.Table.Pos = last.pos, last.pos, last.pos
		return e.Value.Table
	}
	d.twice(t, last, e)
	return nil
}

// openElement opens the next element of an array of tables.
func (d *tomlReader) openElement(keys []key) *Table {
	t := d.walk(keys)
	if t == nil {
		return nil
	}
	last := keys[len(keys)-1]
	e := t.index[last.name]
	if e == nil {
		if !d.count(last.pos) {
			return nil
		}
		t.Set(last.name, last.pos, &Value{Kind: Array, Pos: last.pos})
		e = t.index[last.name]
	} else if !d.isTableArray(e.Value) {
		d.twice(t, last, e)
		return nil
	}
	if !d.count(last.pos) {
		return nil
	}
	el := NewTable(elementPath(t.KeyPath(last.name), len(e.Value.Array)), last.pos)
	d.origin[el] = fromElement
	e.Value.Array = append(e.Value.Array, &Value{Kind: TableKind, Pos: last.pos, Table: el})
	return el
}

// isTableArray reports whether a value was made by [[headers]].
func (d *tomlReader) isTableArray(v *Value) bool {
	return v.Kind == Array && len(v.Array) > 0 && v.Array[0].Kind == TableKind && d.origin[v.Array[0].Table] == fromElement
}

// walk opens the tables above the last key of a header.
func (d *tomlReader) walk(keys []key) *Table {
	if len(keys) > MaxDepth {
		d.tooDeep(keys[0].pos)
		return nil
	}
	t := d.root
	for _, k := range keys[:len(keys)-1] {
		e := t.index[k.name]
		switch {
		case e == nil:
			if t = d.addTable(t, k, fromPath); t == nil {
				return nil
			}
		case e.Value.Kind == TableKind && d.origin[e.Value.Table] != fromInline:
			t = e.Value.Table
		case d.isTableArray(e.Value):
			t = e.Value.Array[len(e.Value.Array)-1].Table
		default:
			d.twice(t, k, e)
			return nil
		}
	}
	return t
}

// openDotted opens the tables of a dotted key below t.
func (d *tomlReader) openDotted(t *Table, keys []key) *Table {
	if len(keys) > MaxDepth {
		d.tooDeep(keys[0].pos)
		return nil
	}
	for _, k := range keys {
		e := t.index[k.name]
		if e == nil {
			if t = d.addTable(t, k, fromDotted); t == nil {
				return nil
			}
			continue
		}
		if e.Value.Kind != TableKind || d.origin[e.Value.Table] != fromDotted {
			d.twice(t, k, e)
			return nil
		}
		t = e.Value.Table
	}
	return t
}

// addTable adds an empty table under a key.
func (d *tomlReader) addTable(t *Table, k key, o origin) *Table {
	if !d.count(k.pos) {
		return nil
	}
	sub := NewTable(t.KeyPath(k.name), k.pos)
	d.origin[sub] = o
	t.Set(k.name, k.pos, &Value{Kind: TableKind, Pos: k.pos, Table: sub})
	return sub
}

// twice reports a name that is taken.
func (d *tomlReader) twice(t *Table, k key, first *Entry) {
	d.p.Add(k.pos, t.KeyPath(k.name), "", "`%s` is there twice; the first, %s, is at %s", k.name, first.Value.Kind, first.Pos)
}

// tooDeep reports nesting beyond the limit.
func (d *tomlReader) tooDeep(pos Pos) {
	d.broken = true
	d.p.Add(pos, "", "", "nested more than %d deep", MaxDepth)
}
