package tuple

// Bytes estimates the memory that a batch holds. Dictionaries that it shares with others are not counted: many batches share one.
func (b *Batch) Bytes() int64 {
	size := int64(8 * len(b.Time))
	for i := range b.Cols {
		size += b.Cols[i].bytes()
	}
	return size
}

func (c *Column) bytes() int64 {
	n := int64(128 + len(c.Valid) + len(c.Bool) + 8*len(c.Int) + 8*len(c.Float) + 4*len(c.Code) + 4*len(c.Off))
	if c.Dict != nil && !c.Dict.Distinct() {
		n += int64(c.Dict.Size()) // a plain column brings its own values
	}
	if c.Elem != nil {
		n += c.Elem.bytes()
	}
	return n
}
