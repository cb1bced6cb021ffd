package optest

import (
	"math"

	"fednode/query/tuple"
)

// encoding is how rows are laid out in memory; it must not show in results.
type encoding uint8

const (
	sharedDict encoding = iota // as generated: one dictionary for the whole stream
	ownDict                    // a dictionary for each batch
	plainDict                  // no dictionary: code i is row i
	selected                   // among other rows, with a selection
	encodings
)

// cut returns rows [lo, hi) as a batch of their own memory in an encoding.
func cut(rows *tuple.Batch, lo, hi int, enc encoding) *tuple.Batch {
	switch enc {
	case ownDict, plainDict:
		b := rows.Slice(lo, hi).Clone()
		for j := range b.Cols {
			recodeColumn(&b.Cols[j], enc == ownDict)
		}
		return b
	case selected:
		return amongOthers(rows, lo, hi)
	}
	return rows.Slice(lo, hi).Clone()
}

func recodeColumn(c *tuple.Column, distinct bool) {
	switch {
	case c.Type.Kind == tuple.List:
		// Elements before the first list belong to rows that were cut off.
		recodeColumn(c.Elem, distinct)
		return
	case !c.Type.Kind.IsBinary():
		return
	}
	if distinct {
		d := tuple.NewDictBuilder()
		for i := range c.Code {
			if !c.IsNull(i) {
				c.Code[i] = d.Intern(c.Bin(i))
			}
		}
		c.Dict = d.Dict()
		return
	}
	off := []uint32{0}
	var data []byte
	for i := range c.Code {
		if !c.IsNull(i) {
			data = append(data, c.Bin(i)...)
		}
		off = append(off, uint32(len(data)))
	}
	for i := range c.Code {
		c.Code[i] = uint32(i)
	}
	c.Dict = tuple.NewDict(off, data, false)
}

// amongOthers puts every row between two that are not selected.
func amongOthers(rows *tuple.Batch, lo, hi int) *tuple.Batch {
	index := make([]uint32, 0, 2*(hi-lo)+1)
	var sel []uint32
	for i := lo; i < hi; i++ {
		index = append(index, uint32(lo+hi-1-i), uint32(i))
		sel = append(sel, uint32(len(index)-1))
	}
	view := *rows
	view.Sel = index
	b := view.Clone()
	b.Sel = sel
	return b
}

// poison overwrites the memory of a batch that was lent: whoever looks at it again sees nonsense, or fails.
func poison(b *tuple.Batch) {
	for i := range b.Time {
		b.Time[i] = tuple.Time(-0x5A5A5A5A5A5A)
	}
	for i := range b.Sel {
		b.Sel[i] = math.MaxUint32
	}
	for j := range b.Cols {
		poisonColumn(&b.Cols[j])
	}
}

func poisonColumn(c *tuple.Column) {
	for i := range c.Valid {
		c.Valid[i] = !c.Valid[i]
	}
	for i := range c.Bool {
		c.Bool[i] = !c.Bool[i]
	}
	for i := range c.Int {
		c.Int[i] = -0x5A5A5A5A5A5A
	}
	for i := range c.Float {
		c.Float[i] = 5.5e55
	}
	for i := range c.Code {
		c.Code[i] = math.MaxUint32
	}
	for i := range c.Off {
		c.Off[i] = math.MaxUint32
	}
	if c.Elem != nil {
		poisonColumn(c.Elem)
	}
}
