package tuple

// A block is a schema or a batch in self-contained binary form: what logs, spills and snapshots hold. It is read only
// together with the schema it was written with. Layout: docs/formats/block.md.

// Schema appends a schema.
func (e *Encoder) Schema(s *Schema) {
	e.Uint(uint64(s.Len()))
	for _, f := range s.fields {
		e.String(f.Name)
		e.B = append(e.B, byte(f.Type.Kind), f.Type.Scale, byte(f.Type.Elem), byte(f.Form))
		e.String(f.Key)
	}
}

// Schema reads a schema and checks it as NewSchema does.
func (d *Decoder) Schema() *Schema {
	n := d.Count(6)
	fields := make([]Field, 0, n)
	for range n {
		f := Field{Name: d.String()}
		if v := d.take(4); v != nil {
			f.Type = Type{Kind: Kind(v[0]), Scale: v[1], Elem: Kind(v[2])}
			f.Form = Form(v[3])
		}
		f.Key = d.String()
		fields = append(fields, f)
	}
	if d.err != nil {
		return nil
	}
	s, err := NewSchema(fields...)
	if err != nil {
		d.Fail("%v", err)
		return nil
	}
	return s
}

// Batch appends the selected rows of a batch. Of a dictionary only the values that the rows use are written, so the
// bytes depend on the rows alone, never on the history of the dictionary.
func (e *Encoder) Batch(b *Batch) {
	if b.Sel != nil {
		b = b.Clone()
	}
	e.Times(b.Time)
	for i := range b.Cols {
		e.Column(&b.Cols[i])
	}
}

// Column appends a whole column.
func (e *Encoder) Column(c *Column) {
	e.Bools(c.Valid)
	switch k := c.Type.Kind; {
	case k == Bool:
		e.Bools(c.Bool)
	case k.IsInt():
		e.Ints(c.Int)
	case k == Float64:
		e.Floats(c.Float)
	case k.IsBinary():
		e.codes(c)
	case k == List:
		e.Uint32s(c.Off)
		e.Column(c.Elem)
	}
}

// codes writes the values in order of first use, then each row's place among them. Null rows use none and write 0.
func (e *Encoder) codes(c *Column) {
	codes := make([]uint32, len(c.Code))
	used := make([]uint32, 0, 64)
	if c.Dict != nil {
		place := make([]uint32, c.Dict.Len()) // 0 is not seen yet
		for i, code := range c.Code {
			if c.IsNull(i) {
				continue
			}
			if place[code] == 0 {
				used = append(used, code)
				place[code] = uint32(len(used))
			}
			codes[i] = place[code] - 1
		}
	}
	e.Bool(c.Dict != nil && c.Dict.distinct)
	e.Uint(uint64(len(used)))
	for _, code := range used {
		e.Bytes(c.Dict.At(code))
	}
	e.Uint32s(codes)
}

// Batch reads a batch of a schema; the result is owned, checked and shares nothing with the input.
func (d *Decoder) Batch(s *Schema) *Batch {
	b := &Batch{Schema: s, Time: d.Times(), Cols: make([]Column, s.Len())}
	for i, f := range s.fields {
		b.Cols[i] = d.Column(f.Type)
	}
	if d.err != nil {
		return nil
	}
	if err := b.Check(); err != nil {
		d.Fail("%v", err)
		return nil
	}
	return b
}

// Column reads a column of a type. Its lengths are checked by Batch.Check, not here.
func (d *Decoder) Column(t Type) Column {
	c := Column{Type: t, Valid: d.Bools()}
	switch k := t.Kind; {
	case k == Bool:
		c.Bool = d.Bools()
	case k.IsInt():
		c.Int = d.Ints()
	case k == Float64:
		c.Float = d.Floats()
	case k.IsBinary():
		d.codes(&c)
	case k == List:
		c.Off = d.Uint32s()
		if len(c.Off) == 0 {
			d.Fail("list column without offsets")
		}
		elem := d.Column(t.ElemType())
		c.Elem = &elem
	}
	return c
}

func (d *Decoder) codes(c *Column) {
	distinct := d.Bool()
	n := d.Count(1)
	off := make([]uint32, 1, n+1)
	var data []byte
	for range n {
		data = append(data, d.Bytes()...)
		off = append(off, uint32(len(data)))
	}
	c.Dict = NewDict(off, data, distinct)
	c.Code = d.Uint32s()
}
