package op

import "fednode/query/tuple"

// snapshot appends the rows in pieces whose cuts and encodings depend on the rows alone.
func (l *rowLog) snapshot(e *tuple.Encoder) {
	e.Uint(uint64(l.size()))
	a := newAssembly(l.schema)
	for pos := l.first; pos < l.next; {
		for end := min(pos+chunkRows, l.next); pos < end; {
			b, lo, hi := l.run(pos, end)
			a.addSlice(b, lo, hi)
			pos += int64(hi - lo)
		}
		e.Batch(a.canonical())
		a = newAssembly(l.schema)
	}
}

// canonical returns the rows so far in the one encoding that their values have: no validity where nothing is null, and
// zeros under nulls.
func (a *assembly) canonical() *tuple.Batch {
	b := a.batch()
	for j := range b.Cols {
		canonicalColumn(&b.Cols[j])
	}
	return b
}

func canonicalColumn(c *tuple.Column) {
	nulls := false
	for i, v := range c.Valid {
		if v {
			continue
		}
		nulls = true
		switch k := c.Type.Kind; {
		case k == tuple.Bool:
			c.Bool[i] = false
		case k.IsInt():
			c.Int[i] = 0
		case k == tuple.Float64:
			c.Float[i] = 0
		}
	}
	if !nulls {
		c.Valid = nil
	}
	if c.Type.Kind == tuple.List {
		canonicalColumn(c.Elem)
	}
}

// restore reads what snapshot wrote. Positions count from 0 again.
func (l *rowLog) restore(d *tuple.Decoder) {
	n := d.Uint()
	last := tuple.MinTime
	for uint64(l.size()) < n && d.Err() == nil {
		b := d.Batch(l.schema)
		if b == nil {
			return
		}
		if len(b.Time) == 0 || uint64(l.size())+uint64(len(b.Time)) > n {
			d.Fail("%d rows in a piece of %d", len(b.Time), n)
			return
		}
		for _, t := range b.Time {
			if t < last {
				d.Fail("row at %v after one at %v", t, last)
				return
			}
			last = t
		}
		l.add(b)
	}
}
