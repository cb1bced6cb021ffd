package stream

import (
	"encoding/binary"

	"fednode/query/tuple"
)

// validity writes a column's field node and its bitmap, which is left out when no row is null.
func (e *Encoder) validity(valid []bool, sel []uint32, n int) {
	nulls := 0
	start := len(e.out)
	if valid != nil {
		if sel != nil {
			picked := make([]bool, n)
			for i, row := range sel {
				picked[i] = valid[row]
			}
			valid = picked
		}
		for _, ok := range valid {
			if !ok {
				nulls++
			}
		}
		if nulls > 0 {
			e.out = packBits(e.out, valid)
		}
	}
	e.node(n, nulls)
	e.buffer(start)
}

// column writes a column without dictionary: the rows that sel names, or all n.
func (e *Encoder) column(c *tuple.Column, sel []uint32, n int) {
	e.validity(c.Valid, sel, n)
	switch shapeOf(c.Type, true) {
	case flags:
		e.bits(c.Bool, sel)
	case words:
		if c.Type.Kind == tuple.Float64 {
			e.words(bytesOf(c.Float), sel)
		} else {
			e.words(bytesOf(c.Int), sel)
		}
	case double:
		e.decimals(c.Int, sel, n)
	case runs:
		e.runs(c, sel, n)
	case fixed:
		e.fixed(c, sel, n)
	case lists:
		e.list(c, sel, n)
	}
}

func (e *Encoder) bits(v []bool, sel []uint32) {
	if sel != nil {
		picked := make([]bool, len(sel))
		for i, row := range sel {
			picked[i] = v[row]
		}
		v = picked
	}
	start := len(e.out)
	e.out = packBits(e.out, v)
	e.buffer(start)
}

// words writes eight bytes a row, seen as bytes so that one loop serves integers, floats and times.
func (e *Encoder) words(v []byte, sel []uint32) {
	start := len(e.out)
	if sel == nil {
		e.out = append(e.out, v...)
		e.buffer(start)
		return
	}
	var to []byte
	e.out, to = extend(e.out, 8*len(sel))
	for i, row := range sel {
		binary.LittleEndian.PutUint64(to[8*i:], binary.LittleEndian.Uint64(v[8*int(row):]))
	}
	e.buffer(start)
}

func (e *Encoder) decimals(v []int64, sel []uint32, n int) {
	start := len(e.out)
	var to []byte
	e.out, to = extend(e.out, 16*n)
	for i := range n {
		x := v[pick(sel, i)]
		putI64(to[16*i:], x)
		putI64(to[16*i+8:], x>>63)
	}
	e.buffer(start)
}

func pick(sel []uint32, i int) int {
	if sel != nil {
		return int(sel[i])
	}
	return i
}

func (e *Encoder) runs(c *tuple.Column, sel []uint32, n int) {
	start := len(e.out)
	var to []byte
	e.out, to = extend(e.out, 4*(n+1))
	end := 0
	binary.LittleEndian.PutUint32(to, 0)
	for i := range n {
		if row := pick(sel, i); !c.IsNull(row) {
			end += len(c.Bin(row))
		}
		binary.LittleEndian.PutUint32(to[4*(i+1):], uint32(end))
	}
	e.buffer(start)
	start = len(e.out)
	for i := range n {
		if row := pick(sel, i); !c.IsNull(row) {
			e.out = append(e.out, c.Bin(row)...)
		}
	}
	e.buffer(start)
}

func (e *Encoder) fixed(c *tuple.Column, sel []uint32, n int) {
	start := len(e.out)
	w := width(c.Type.Kind)
	var to []byte
	e.out, to = extend(e.out, w*n)
	for i := range n {
		slot := to[w*i : w*(i+1)]
		if row := pick(sel, i); c.IsNull(row) {
			clear(slot)
		} else {
			copy(slot, c.Bin(row))
		}
	}
	e.buffer(start)
}

// list writes offsets and the elements, gathered so that they begin at 0 and have no holes.
func (e *Encoder) list(c *tuple.Column, sel []uint32, n int) {
	dense := tuple.Column{Type: c.Type, Off: make([]uint32, 1, n+1)}
	var elems []uint32
	for i := range n {
		if row := pick(sel, i); !c.IsNull(row) {
			for j := c.Off[row]; j < c.Off[row+1]; j++ {
				elems = append(elems, j)
			}
		}
		dense.Off = append(dense.Off, uint32(len(elems)))
	}
	e.offsets(dense.Off)
	if elems == nil {
		elems = []uint32{}
	}
	e.column(c.Elem, elems, len(elems))
}
