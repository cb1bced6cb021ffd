package op

import (
	"math"

	"fednode/query/tuple"
)

// keyCoder turns the values of some columns of a row into bytes: equal bytes for equal keys, whatever the encoding of
// the columns, nulls included.
type keyCoder struct {
	cols []int
	e    tuple.Encoder
}

// code returns the key of column row i, borrowed until the next call.
func (k *keyCoder) code(b *tuple.Batch, i int) []byte {
	k.e.B = k.e.B[:0]
	for _, c := range k.cols {
		encodeValue(&k.e, &b.Cols[c], i)
	}
	return k.e.B
}

// hasNull reports whether one of the key's values is null.
func (k *keyCoder) hasNull(b *tuple.Batch, i int) bool {
	for _, c := range k.cols {
		if b.Cols[c].IsNull(i) {
			return true
		}
	}
	return false
}

func encodeValue(e *tuple.Encoder, c *tuple.Column, i int) {
	if c.IsNull(i) {
		e.B = append(e.B, 0)
		return
	}
	e.B = append(e.B, 1)
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		e.Bool(c.Bool[i])
	case k.IsInt():
		e.Int(c.Int[i])
	case k == tuple.Float64:
		e.Float(math.Float64frombits(tuple.FloatBits(c.Float[i])))
	case k.IsBinary():
		e.Bytes(c.Bin(i))
	case k == tuple.List:
		e.Uint(uint64(c.Off[i+1] - c.Off[i]))
		for j := c.Off[i]; j < c.Off[i+1]; j++ {
			encodeValue(e, c.Elem, int(j))
		}
	}
}

// decodeValue appends the value that encodeValue wrote to a column; binary values are interned in dict.
func decodeValue(d *tuple.Decoder, c *tuple.Column, dict *tuple.DictBuilder) {
	if !d.Bool() {
		c.AppendNull()
		return
	}
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		c.Bool = append(c.Bool, d.Bool())
	case k.IsInt():
		c.Int = append(c.Int, d.Int())
	case k == tuple.Float64:
		c.Float = append(c.Float, d.Float())
	case k.IsBinary():
		v := d.Bytes()
		checkWidth(d, k, v)
		c.Code = append(c.Code, dict.Intern(v))
	case k == tuple.List:
		for range d.Count(1) {
			decodeValue(d, c.Elem, dict)
		}
		c.Off = append(c.Off, uint32(c.Elem.Rows()))
	}
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// checkWidth refuses addresses and prefixes of a wrong length, which formatting relies on.
func checkWidth(d *tuple.Decoder, k tuple.Kind, v []byte) {
	if k == tuple.IP && len(v) != 16 || k == tuple.CIDR && (len(v) != 17 || v[16] > 128) {
		d.Fail("%d bytes are no %v", len(v), k)
	}
}

// checkValues reads values of the given types and records what is wrong with them; it keeps nothing.
func checkValues(d *tuple.Decoder, types []tuple.Type) {
	dict := tuple.NewDictBuilder()
	for _, t := range types {
		var c tuple.Column
		c.Reset(t)
		decodeValue(d, &c, dict)
	}
}

// typesOf returns the types of some columns.
func typesOf(s *tuple.Schema, cols []int) []tuple.Type {
	types := make([]tuple.Type, len(cols))
	for i, c := range cols {
		types[i] = s.Field(c).Type
	}
	return types
}

// decode adds the values of a key to columns [first, first+n) of the assembly.
func (a *assembly) decode(values string, first, n int) {
	d := tuple.NewDecoder([]byte(values))
	for j := first; j < first+n; j++ {
		var dict *tuple.DictBuilder
		if r := a.recoded[j]; r != nil {
			dict = r.dict
		}
		decodeValue(d, &a.b.Cols[j], dict)
	}
}
