package flat

import "encoding/binary"

// Buffer is the bytes of one root table. Positions are offsets in B; 0 stands for "absent", as no table or vector can
// begin there.
type Buffer struct {
	B   []byte
	bad bool
}

// Bad reports whether any access so far was outside the buffer or went backwards.
func (f *Buffer) Bad() bool { return f.bad }

func (f *Buffer) at(pos, n int) []byte {
	if f.bad || pos < 0 || n < 0 || pos > len(f.B)-n {
		f.bad = true
		return nil
	}
	return f.B[pos : pos+n]
}

// U8 returns the byte at pos.
func (f *Buffer) U8(pos int) uint8 {
	if v := f.at(pos, 1); v != nil {
		return v[0]
	}
	return 0
}

// U16 returns the word at pos.
func (f *Buffer) U16(pos int) uint16 {
	if v := f.at(pos, 2); v != nil {
		return binary.LittleEndian.Uint16(v)
	}
	return 0
}

// U32 returns the word at pos.
func (f *Buffer) U32(pos int) uint32 {
	if v := f.at(pos, 4); v != nil {
		return binary.LittleEndian.Uint32(v)
	}
	return 0
}

// I64 returns the word at pos.
func (f *Buffer) I64(pos int) int64 {
	if v := f.at(pos, 8); v != nil {
		return int64(binary.LittleEndian.Uint64(v))
	}
	return 0
}

// Root returns the position of the root table.
func (f *Buffer) Root() int { return f.Ref(0) }

// Ref follows the reference at pos. References point forward.
func (f *Buffer) Ref(pos int) int {
	off := int(f.U32(pos))
	if off == 0 || off > len(f.B) {
		f.bad = true
	}
	if f.bad {
		return 0
	}
	return pos + off
}

// Field returns the position of a table's field by its slot, or 0 if the table does not have it.
func (f *Buffer) Field(table, slot int) int {
	vtable := table - int(int32(f.U32(table)))
	size := int(f.U16(vtable))
	entry := 4 + 2*slot
	// As generated code has it, so that both see the same fields also where the size is odd.
	if f.bad || entry >= size {
		return 0
	}
	off := int(f.U16(vtable + entry))
	if f.bad || off == 0 {
		return 0
	}
	return table + off
}

// Table returns the position of the table that a field refers to, or 0.
func (f *Buffer) Table(table, slot int) int {
	if pos := f.Field(table, slot); pos != 0 {
		return f.Ref(pos)
	}
	return 0
}

// Vector returns the position of a field's first element and the number of elements of a size; an absent field has none.
func (f *Buffer) Vector(table, slot, size int) (first, n int) {
	start := f.Table(table, slot)
	if start == 0 {
		return 0, 0
	}
	n = int(f.U32(start))
	if n > (len(f.B)-start)/size || f.at(start+4, n*size) == nil {
		f.bad = true
	}
	if f.bad {
		return 0, 0
	}
	return start + 4, n
}

// Text returns the string a field refers to; it aliases the buffer. An absent field is "".
func (f *Buffer) Text(table, slot int) []byte {
	first, n := f.Vector(table, slot, 1)
	return f.at(first, n)
}
