package tuple

import (
	"bytes"
	"math"
	"math/bits"
)

// Column is a typed view of one field of a batch. Exactly the slices that the type needs are set:
//
//	Bool                                  Bool
//	Int64, Timestamp, Duration, Decimal   Int (microseconds; for decimals the unscaled value)
//	Float64                               Float
//	String, Bytes, IP, CIDR               Code and Dict
//	List                                  Off (rows+1 entries) and Elem
//
// Valid is nil when no row is null; otherwise a row is null where it is false, and its value slot holds anything, but for
// binary columns 0, which an empty dictionary does not have: look at validity before the dictionary.
type Column struct {
	Type  Type
	Valid []bool
	Bool  []bool
	Int   []int64
	Float []float64
	Code  []uint32
	Dict  *Dict
	Off   []uint32
	Elem  *Column
}

// Rows returns the number of rows.
func (c *Column) Rows() int {
	switch k := c.Type.Kind; {
	case k == Bool:
		return len(c.Bool)
	case k.IsInt():
		return len(c.Int)
	case k == Float64:
		return len(c.Float)
	case k.IsBinary():
		return len(c.Code)
	case k == List:
		return max(0, len(c.Off)-1)
	}
	return 0
}

// IsNull reports whether row i is null.
func (c *Column) IsNull(i int) bool { return c.Valid != nil && !c.Valid[i] }

// Bin returns the bytes of row i of a binary column; the caller does not change them. The row is not null.
func (c *Column) Bin(i int) []byte { return c.Dict.At(c.Code[i]) }

// Slice returns rows [lo, hi) as a view of the same memory.
func (c *Column) Slice(lo, hi int) Column {
	s := Column{Type: c.Type, Dict: c.Dict, Elem: c.Elem}
	if c.Valid != nil {
		s.Valid = c.Valid[lo:hi]
	}
	switch k := c.Type.Kind; {
	case k == Bool:
		s.Bool = c.Bool[lo:hi]
	case k.IsInt():
		s.Int = c.Int[lo:hi]
	case k == Float64:
		s.Float = c.Float[lo:hi]
	case k.IsBinary():
		s.Code = c.Code[lo:hi]
	case k == List:
		s.Off = c.Off[lo : hi+1]
	}
	return s
}

// Reset empties the column for reuse as a buffer of type t; capacities are kept.
func (c *Column) Reset(t Type) {
	*c = Column{Type: t, Valid: nil, Bool: c.Bool[:0], Int: c.Int[:0], Float: c.Float[:0], Code: c.Code[:0], Off: c.Off[:0], Elem: c.Elem}
	if t.Kind == List {
		c.Off = append(c.Off, 0)
		if c.Elem == nil || c.Elem.Type != t.ElemType() {
			c.Elem = &Column{}
		}
		c.Elem.Reset(t.ElemType())
	} else {
		c.Elem = nil
	}
}

// Gather appends to dst the rows of c that sel names, in its order; a nil sel means all rows. dst has c's type and, if
// it is binary, is empty or of the same dictionary lineage (Gather takes over the longer snapshot).
func (c *Column) Gather(dst *Column, sel []uint32) {
	n0 := dst.Rows()
	switch k := c.Type.Kind; {
	case k == Bool:
		dst.Bool = gather(dst.Bool, c.Bool, sel)
	case k.IsInt():
		dst.Int = gather(dst.Int, c.Int, sel)
	case k == Float64:
		dst.Float = gather(dst.Float, c.Float, sel)
	case k.IsBinary():
		if dst.Dict == nil || dst.Dict.Len() < c.Dict.Len() {
			dst.Dict = c.Dict
		}
		dst.Code = gather(dst.Code, c.Code, sel)
	case k == List:
		c.gatherList(dst, sel)
	}
	n1 := dst.Rows()
	if c.Valid == nil {
		if dst.Valid != nil {
			dst.Valid = appendTrue(dst.Valid, n1-n0)
		}
		return
	}
	if dst.Valid == nil {
		dst.Valid = appendTrue(make([]bool, 0, n1), n0)
	}
	dst.Valid = gather(dst.Valid, c.Valid, sel)
}

func (c *Column) gatherList(dst *Column, sel []uint32) {
	if len(dst.Off) == 0 {
		dst.Off = append(dst.Off, 0)
	}
	if dst.Elem == nil {
		dst.Elem = &Column{Type: c.Type.ElemType()}
	}
	var idx []uint32
	take := func(i uint32) {
		for j := c.Off[i]; j < c.Off[i+1]; j++ {
			idx = append(idx, j)
		}
		dst.Off = append(dst.Off, dst.Off[len(dst.Off)-1]+c.Off[i+1]-c.Off[i])
	}
	if sel == nil {
		for i := range c.Rows() {
			take(uint32(i))
		}
	} else {
		for _, i := range sel {
			take(i)
		}
	}
	if c.Elem.Type.Kind.IsBinary() && dst.Elem.Dict != nil && dst.Elem.Dict.Lineage() != c.Elem.Dict.Lineage() {
		appendRecoded(dst.Elem, c.Elem, idx)
		return
	}
	if idx == nil {
		idx = []uint32{} // nil would mean all
	}
	c.Elem.Gather(dst.Elem, idx)
}

// appendRecoded appends binary rows of another dictionary by building a plain one that holds both.
func appendRecoded(dst, src *Column, sel []uint32) {
	off := []uint32{0}
	var data []byte
	var codes []uint32
	add := func(c *Column, i int) {
		if !c.IsNull(i) {
			data = append(data, c.Bin(i)...)
		}
		codes = append(codes, uint32(len(codes)))
		off = append(off, uint32(len(data)))
	}
	for i := range dst.Code {
		add(dst, i)
	}
	valid := dst.Valid
	if valid == nil && src.Valid != nil {
		valid = appendTrue(nil, len(dst.Code))
	}
	for _, i := range sel {
		add(src, int(i))
		if valid != nil {
			valid = append(valid, !src.IsNull(int(i)))
		}
	}
	dst.Code, dst.Dict, dst.Valid = codes, NewDict(off, data, false), valid
}

func gather[T any](dst, src []T, sel []uint32) []T {
	if sel == nil {
		return append(dst, src...)
	}
	n := len(dst)
	if cap(dst)-n < len(sel) {
		grown := make([]T, n, max(2*cap(dst), n+len(sel)))
		copy(grown, dst)
		dst = grown
	}
	dst = dst[:n+len(sel)]
	out := dst[n:]
	for i, s := range sel {
		out[i] = src[s]
	}
	return dst
}

func appendTrue(dst []bool, n int) []bool {
	for range n {
		dst = append(dst, true)
	}
	return dst
}

// AppendNull appends a null row.
func (c *Column) AppendNull() {
	n := c.Rows()
	if c.Valid == nil {
		c.Valid = appendTrue(make([]bool, 0, n+1), n)
	}
	c.Valid = append(c.Valid, false)
	c.appendZero()
}

func (c *Column) appendZero() {
	switch k := c.Type.Kind; {
	case k == Bool:
		c.Bool = append(c.Bool, false)
	case k.IsInt():
		c.Int = append(c.Int, 0)
	case k == Float64:
		c.Float = append(c.Float, 0)
	case k.IsBinary():
		c.Code = append(c.Code, 0)
	case k == List:
		c.Off = append(c.Off, c.Off[len(c.Off)-1])
	}
}

// CompareFloat orders floats as the system does: -Inf < numbers < +Inf < NaN; NaN equals NaN and -0 equals +0.
func CompareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	an, bn := math.IsNaN(a), math.IsNaN(b)
	switch {
	case an && bn:
		return 0
	case an:
		return 1
	}
	return -1
}

// FloatBits returns the bits under which a float is grouped and hashed: one pattern for all NaNs, +0 for both zeros.
func FloatBits(f float64) uint64 {
	if f == 0 {
		return 0
	}
	if f != f {
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// Compare orders row i of c against row j of o, columns of one type: nulls first, false before true, numbers by value,
// binary values by bytes, lists element by element.
func (c *Column) Compare(i int, o *Column, j int) int {
	cn, on := c.IsNull(i), o.IsNull(j)
	if cn || on {
		return b2i(on) - b2i(cn)
	}
	switch k := c.Type.Kind; {
	case k == Bool:
		return b2i(c.Bool[i]) - b2i(o.Bool[j])
	case k.IsInt():
		return cmpInt(c.Int[i], o.Int[j])
	case k == Float64:
		return CompareFloat(c.Float[i], o.Float[j])
	case k.IsBinary():
		if c.Dict == o.Dict && c.Code[i] == o.Code[j] {
			return 0
		}
		return bytes.Compare(c.Bin(i), o.Bin(j))
	case k == List:
		a0, a1 := int(c.Off[i]), int(c.Off[i+1])
		b0, b1 := int(o.Off[j]), int(o.Off[j+1])
		for ; a0 < a1 && b0 < b1; a0, b0 = a0+1, b0+1 {
			if r := c.Elem.Compare(a0, o.Elem, b0); r != 0 {
				return r
			}
		}
		return cmpInt(int64(a1-a0), int64(b1-b0))
	}
	return 0
}

func cmpInt(a, b int64) int {
	if a < b {
		return -1
	}
	return b2i(a > b)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// HashInto folds row i into the running hash h; equal values (as Compare has it) hash alike whatever their encoding.
func (c *Column) HashInto(h uint64, i int) uint64 {
	var v uint64
	switch k := c.Type.Kind; {
	case c.IsNull(i):
		v = 0x6E756C6C
	case k == Bool:
		v = uint64(b2i(c.Bool[i])) + 1
	case k.IsInt():
		v = Mix64(uint64(c.Int[i]))
	case k == Float64:
		v = Mix64(FloatBits(c.Float[i]))
	case k.IsBinary():
		v = HashBytes(c.Bin(i))
	case k == List:
		v = uint64(c.Off[i+1] - c.Off[i])
		for j := c.Off[i]; j < c.Off[i+1]; j++ {
			v = c.Elem.HashInto(v, int(j))
		}
	}
	return Mix64(bits.RotateLeft64(h, 23) ^ v)
}
