package state

import "fednode/query/tuple"

// DecodeColumn reads a column of a type with n rows, checked; nil, and the reason in d, if it is malformed.
func DecodeColumn(d *tuple.Decoder, t tuple.Type, n int) *tuple.Column {
	c := d.Column(t)
	if d.Err() != nil {
		return nil
	}
	if c.Rows() != n {
		d.Fail("%d values, want %d", c.Rows(), n)
		return nil
	}
	b := tuple.Batch{
		Schema: tuple.MustSchema(tuple.Field{Name: "value", Type: t}), Time: make([]tuple.Time, n), Cols: []tuple.Column{c},
	}
	if err := b.Check(); err != nil {
		d.Fail("%v", err)
		return nil
	}
	return &c
}

// EncodeWords appends the values of words; what DecodeColumn reads.
func (k *Values) EncodeWords(e *tuple.Encoder, words []uint64) {
	var c tuple.Column
	w := NewValueWriter(k.t)
	w.Write(&c, k, words, nil)
	e.Column(&c)
}

// DecodeWords reads the values that EncodeWords wrote, of which there must be n, without nulls, and returns their words
// here. They are valid until the next call of a method of k.
func (k *Values) DecodeWords(d *tuple.Decoder, n int) []uint64 {
	c := DecodeColumn(d, k.t, n)
	if c == nil {
		return nil
	}
	if c.Valid != nil {
		d.Fail("a null among values that have none")
		return nil
	}
	return k.Words(c)
}
