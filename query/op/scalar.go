package op

import (
	"math"

	"fednode/query/tuple"
)

// scalar is one value of any type but a list, kept for later rows.
type scalar struct {
	set  bool   // not null
	bits uint64 // of a bool, an integer or a float
	text string // of a binary value
}

// scalarAt returns the value of row i of a column.
func scalarAt(c *tuple.Column, i int) scalar {
	if c.IsNull(i) {
		return scalar{}
	}
	v := scalar{set: true}
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		if c.Bool[i] {
			v.bits = 1
		}
	case k.IsInt():
		v.bits = uint64(c.Int[i])
	case k == tuple.Float64:
		v.bits = math.Float64bits(c.Float[i])
	case k.IsBinary():
		v.text = string(c.Bin(i))
	}
	return v
}

// scalar adds one value to column j.
func (a *assembly) scalar(j int, v scalar) {
	c := &a.b.Cols[j]
	if !v.set {
		c.AppendNull()
		return
	}
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		c.Bool = append(c.Bool, v.bits != 0)
	case k.IsInt():
		c.Int = append(c.Int, int64(v.bits))
	case k == tuple.Float64:
		c.Float = append(c.Float, math.Float64frombits(v.bits))
	case k.IsBinary():
		c.Code = append(c.Code, a.recoded[j].dict.Intern([]byte(v.text)))
	}
	if c.Valid != nil {
		c.Valid = append(c.Valid, true)
	}
}

// textBytes returns the bytes of binary values.
func textBytes(values []scalar) int64 {
	n := 0
	for i := range values {
		n += len(values[i].text)
	}
	return int64(n)
}

// encode appends the value, which has type t.
func (v scalar) encode(e *tuple.Encoder, t tuple.Type) {
	e.Bool(v.set)
	switch {
	case !v.set:
	case t.Kind.IsBinary():
		e.String(v.text)
	default:
		e.Uint(v.bits)
	}
}

// decodeScalar reads what encode wrote.
func decodeScalar(d *tuple.Decoder, t tuple.Type) scalar {
	v := scalar{set: d.Bool()}
	switch {
	case !v.set:
	case t.Kind.IsBinary():
		b := d.Bytes()
		checkWidth(d, t.Kind, b)
		v.text = string(b)
	default:
		v.bits = d.Uint()
	}
	return v
}

// owner marks what one instance may change; its forks copy that first. It is not empty, since two empty values may
// have one address.
type owner struct{ _ byte }
