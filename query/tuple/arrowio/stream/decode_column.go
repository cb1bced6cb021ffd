package stream

import (
	"encoding/binary"

	"fednode/query/tuple"
)

// column reads the next column into c, whose type is set. dict is the dictionary of a column that has one.
func (r *record) column(c *tuple.Column, dict *tuple.DictBuilder, rows int) error {
	n, nulls, err := r.field()
	if err != nil {
		return err
	}
	if n != rows {
		return fault(BadRows, "%d values for %d rows", n, rows)
	}
	if c.Valid, err = r.validity(n, nulls); err != nil {
		return err
	}
	switch shapeOf(c.Type, dict == nil) {
	case flags:
		return r.bits(c, n)
	case words:
		return r.words(c, n)
	case double:
		return r.decimals(c, n)
	case indices:
		return r.indices(c, dict, n)
	case runs:
		return r.runs(c, n)
	case fixed:
		return r.fixed(c, n)
	}
	return r.list(c, n)
}

func (r *record) validity(n, nulls int) ([]bool, error) {
	if nulls == 0 {
		_, err := r.buffer(0)
		return nil, err
	}
	b, err := r.buffer((n + 7) / 8)
	if err != nil {
		return nil, err
	}
	valid, clear := unpackBits(b, n)
	if clear != nulls {
		return nil, fault(Malformed, "%d nulls, %d announced", clear, nulls)
	}
	return valid, nil
}

func (r *record) bits(c *tuple.Column, n int) error {
	b, err := r.buffer((n + 7) / 8)
	if err == nil {
		c.Bool, _ = unpackBits(b, n)
	}
	return err
}

func (r *record) words(c *tuple.Column, n int) error {
	b, err := r.buffer(8 * n)
	if err != nil {
		return err
	}
	if c.Type.Kind == tuple.Float64 {
		c.Float = wordsOf[float64](b, n)
	} else {
		c.Int = wordsOf[int64](b, n)
	}
	return nil
}

const maxDecimal = 999_999_999_999_999_999

func (r *record) decimals(c *tuple.Column, n int) error {
	b, err := r.buffer(16 * n)
	if err != nil {
		return err
	}
	c.Int = make([]int64, n)
	for i := range c.Int {
		if c.IsNull(i) {
			continue
		}
		low := int64(binary.LittleEndian.Uint64(b[16*i:]))
		high := int64(binary.LittleEndian.Uint64(b[16*i+8:]))
		if high != low>>63 || low > maxDecimal || low < -maxDecimal {
			return fault(BadValue, "row %d: a decimal of more than 18 digits", i)
		}
		c.Int[i] = low
	}
	return nil
}

func (r *record) indices(c *tuple.Column, dict *tuple.DictBuilder, n int) error {
	b, err := r.buffer(2 * n)
	if err != nil {
		return err
	}
	c.Dict = dict.Dict()
	c.Code = make([]uint32, n)
	top := uint32(0)
	if c.Valid == nil {
		b = b[:2*n]
		for i := range c.Code {
			code := uint32(binary.LittleEndian.Uint16(b[2*i:]))
			top = max(top, code)
			c.Code[i] = code
		}
	} else {
		for i, ok := range c.Valid {
			if ok {
				c.Code[i] = uint32(binary.LittleEndian.Uint16(b[2*i:]))
				top = max(top, c.Code[i])
			}
		}
	}
	if int(top) >= c.Dict.Len() && r.anyValid(c) {
		return fault(BadDictionary, "code %d of a dictionary of %d", top, c.Dict.Len())
	}
	return nil
}

// anyValid reports whether some row has a value.
func (r *record) anyValid(c *tuple.Column) bool {
	if c.Valid == nil {
		return len(c.Code) > 0
	}
	for _, ok := range c.Valid {
		if ok {
			return true
		}
	}
	return false
}

// runs reads values that lie end to end. They become a dictionary in which row i has code i.
func (r *record) runs(c *tuple.Column, n int) error {
	off, err := r.offsets(n)
	if err != nil {
		return err
	}
	data, err := r.buffer(int(off[n]))
	if err != nil {
		return err
	}
	r.plain(c, off, data, n)
	return nil
}

// offsets reads n+1 offsets that do not fall. What they point into is checked by the caller against the last.
func (r *record) offsets(n int) ([]uint32, error) {
	want := 4 * (n + 1)
	if n == 0 {
		want = 0 // an empty column may leave them out
	}
	b, err := r.buffer(want)
	if err != nil {
		return nil, err
	}
	if len(b) < 4 {
		return []uint32{0}, nil
	}
	off := wordsOf[uint32](b, n+1)
	last := uint32(0)
	for i, o := range off {
		if o < last {
			return nil, fault(Malformed, "offset %d of value %d after %d", int32(o), i, last)
		}
		last = o
	}
	if last > MaxBytes {
		return nil, fault(Malformed, "an offset of %d", int32(last))
	}
	return off, nil
}

// plain makes the column of a dictionary with one value a row. Null rows hold code 0, like everywhere.
func (r *record) plain(c *tuple.Column, off []uint32, data []byte, n int) {
	c.Dict = tuple.NewDict(off, data, false)
	c.Code = r.d.upTo(n)
	if c.Valid == nil {
		return
	}
	c.Code = append([]uint32(nil), c.Code...)
	for i, ok := range c.Valid {
		if !ok {
			c.Code[i] = 0
		}
	}
}

func (r *record) fixed(c *tuple.Column, n int) error {
	w := width(c.Type.Kind)
	data, err := r.buffer(w * n)
	if err != nil {
		return err
	}
	if c.Type.Kind == tuple.CIDR {
		for i := range n {
			if bits := data[w*i+16]; bits > 128 && !c.IsNull(i) {
				return fault(BadValue, "row %d: a network prefix of %d bits", i, bits)
			}
		}
	}
	r.plain(c, r.d.strides(w, n), data, n)
	return nil
}

func (r *record) list(c *tuple.Column, n int) error {
	off, err := r.offsets(n)
	if err != nil {
		return err
	}
	if off[0] != 0 {
		return fault(Malformed, "a list column that begins at element %d", off[0])
	}
	c.Off = off
	c.Elem = &tuple.Column{Type: c.Type.ElemType()}
	return r.column(c.Elem, nil, int(off[n]))
}
