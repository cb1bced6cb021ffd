package expr

import "fednode/query/tuple"

// vec is a result column with its buffers, which outlive what the column shows of them.
type vec struct {
	tuple.Column
	bools  []bool
	ints   []int64
	floats []float64
	codes  []uint32
	valid  []bool
}

func (v *vec) asBool(n int) []bool {
	v.bools = growTo(v.bools, n)
	v.Bool = v.bools
	return v.bools
}

func (v *vec) asInt(n int) []int64 {
	v.ints = growTo(v.ints, n)
	v.Int = v.ints
	return v.ints
}

func (v *vec) asFloat(n int) []float64 {
	v.floats = growTo(v.floats, n)
	v.Float = v.floats
	return v.floats
}

func (v *vec) asCode(n int) []uint32 {
	v.codes = growTo(v.codes, n)
	v.Code = v.codes
	return v.codes
}

// resize makes room for n values of the vec's type.
func (v *vec) resize(n int) {
	switch k := v.Type.Kind; {
	case k == tuple.Bool:
		v.asBool(n)
	case k.IsInt():
		v.asInt(n)
	case k == tuple.Float64:
		v.asFloat(n)
	case k.IsBinary():
		v.asCode(n)
	}
}

// ownValid returns a validity of n entries that the vec may write, as it is or all true.
func (v *vec) ownValid(n int) []bool {
	if v.Valid != nil && len(v.valid) == n && n > 0 && &v.Valid[0] == &v.valid[0] {
		return v.valid
	}
	from := v.Valid
	v.valid = growTo(v.valid, n)
	if from != nil {
		copy(v.valid, from[:n])
	} else {
		fill(v.valid, true)
	}
	v.Valid = v.valid
	return v.valid
}

// both makes the vec null where a or b is; it borrows a validity where one is enough.
func (v *vec) both(a, b []bool, n int) {
	switch {
	case a == nil:
		v.Valid = b
	case b == nil:
		v.Valid = a
	default:
		v.valid = growTo(v.valid, n)
		a, b = a[:n], b[:n]
		for i := range v.valid {
			v.valid[i] = a[i] && b[i]
		}
		v.Valid = v.valid
	}
}

func fill[T any](s []T, x T) {
	for i := range s {
		s[i] = x
	}
}

// gather sets the vec to the rows of c that sel names. Lists are copied by the column itself.
func (v *vec) gather(c *tuple.Column, sel []uint32) *tuple.Column {
	if c.Type.Kind == tuple.List {
		v.Column = tuple.Column{Type: c.Type}
		if sel == nil {
			sel = []uint32{}
		}
		c.Gather(&v.Column, sel)
		return &v.Column
	}
	n := len(sel)
	switch k := c.Type.Kind; {
	case k == tuple.Bool:
		pick(v.asBool(n), c.Bool, sel)
	case k.IsInt():
		pick(v.asInt(n), c.Int, sel)
	case k == tuple.Float64:
		pick(v.asFloat(n), c.Float, sel)
	case k.IsBinary():
		pick(v.asCode(n), c.Code, sel)
		v.Dict = c.Dict
	}
	v.Valid = nil
	if c.Valid != nil {
		v.valid = growTo(v.valid, n)
		pick(v.valid, c.Valid, sel)
		v.Valid = v.valid
	}
	return &v.Column
}

func pick[T any](dst, src []T, sel []uint32) {
	dst = dst[:len(sel)]
	for i, s := range sel {
		dst[i] = src[s]
	}
}

// scatter puts the values of c, a column of v's type and not binary, at positions pos of v.
func (v *vec) scatter(c *tuple.Column, pos []uint32) {
	switch k := v.Type.Kind; {
	case k == tuple.Bool:
		place32(v.Bool, c.Bool, pos)
	case k.IsInt():
		place32(v.Int, c.Int, pos)
	case k == tuple.Float64:
		place32(v.Float, c.Float, pos)
	}
	if c.Valid != nil {
		place32(v.ownValid(v.Rows()), c.Valid, pos)
	} else if v.Valid != nil {
		valid := v.ownValid(v.Rows())
		for _, p := range pos {
			valid[p] = true
		}
	}
}

func place32[T any](dst, src []T, pos []uint32) {
	for i, p := range pos {
		dst[p] = src[i]
	}
}
