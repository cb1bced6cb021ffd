package tuple

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Encoder appends values to a byte slice in the system's little-endian binary form, used for operator snapshots and log
// records. The zero value is ready.
type Encoder struct{ B []byte }

// Uint appends v as a varint.
func (e *Encoder) Uint(v uint64) { e.B = binary.AppendUvarint(e.B, v) }

// Int appends v as a zig-zag varint.
func (e *Encoder) Int(v int64) { e.B = binary.AppendVarint(e.B, v) }

// Time appends a stream time.
func (e *Encoder) Time(t Time) { e.Int(int64(t)) }

// Bool appends one byte.
func (e *Encoder) Bool(v bool) { e.B = append(e.B, byte(b2i(v))) }

// Float appends the eight bytes of v.
func (e *Encoder) Float(v float64) { e.B = binary.LittleEndian.AppendUint64(e.B, math.Float64bits(v)) }

// Bytes appends the length of v and v.
func (e *Encoder) Bytes(v []byte) {
	e.Uint(uint64(len(v)))
	e.B = append(e.B, v...)
}

// String appends the length of v and v.
func (e *Encoder) String(v string) {
	e.Uint(uint64(len(v)))
	e.B = append(e.B, v...)
}

// Ints appends a slice of eight-byte integers.
func (e *Encoder) Ints(v []int64) { words64(e, v) }

// Times appends a slice of stream times.
func (e *Encoder) Times(v []Time) { words64(e, v) }

// Uint64s appends a slice of eight-byte words.
func (e *Encoder) Uint64s(v []uint64) { words64(e, v) }

// words64 makes room once, so that the loop is a plain copy.
func words64[T ~int64 | ~uint64](e *Encoder, v []T) {
	out := e.room(len(v), 8)
	for _, x := range v {
		binary.LittleEndian.PutUint64(out, uint64(x))
		out = out[8:]
	}
}

// Uint32s appends a slice of four-byte words.
func (e *Encoder) Uint32s(v []uint32) {
	out := e.room(len(v), 4)
	for _, x := range v {
		binary.LittleEndian.PutUint32(out, x)
		out = out[4:]
	}
}

// Floats appends a slice of floats.
func (e *Encoder) Floats(v []float64) {
	out := e.room(len(v), 8)
	for _, x := range v {
		binary.LittleEndian.PutUint64(out, math.Float64bits(x))
		out = out[8:]
	}
}

// room appends the count of n items and returns the bytes behind it that they take.
func (e *Encoder) room(n, size int) []byte {
	e.Uint(uint64(n))
	at := len(e.B)
	e.B = slices.Grow(e.B, n*size)[:at+n*size]
	return e.B[at:]
}

// Bools appends a slice of booleans, one byte each; nil and empty stay apart.
func (e *Encoder) Bools(v []bool) {
	if v == nil {
		e.Uint(0)
		return
	}
	e.Uint(uint64(len(v)) + 1)
	at := len(e.B)
	e.B = slices.Grow(e.B, len(v))[:at+len(v)]
	out := e.B[at:]
	for i, x := range v {
		out[i] = byte(b2i(x))
	}
}

// ErrCorrupt is wrapped by every error of a Decoder.
var ErrCorrupt = errors.New("corrupt data")

// Decoder reads what Encoder wrote. It never panics and never allocates more than the input justifies: after the first
// error it returns zero values, and Err tells.
type Decoder struct {
	b   []byte
	off int
	err error
}

// NewDecoder returns a decoder over b, which it does not modify.
func NewDecoder(b []byte) *Decoder { return &Decoder{b: b} }

// Err returns the first error.
func (d *Decoder) Err() error { return d.err }

// Fail records an error at the current place, unless there is one already.
func (d *Decoder) Fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w at byte %d: %s", ErrCorrupt, d.off, fmt.Sprintf(format, args...))
	}
}

// Remaining returns the number of unread bytes.
func (d *Decoder) Remaining() int { return len(d.b) - d.off }

// Close fails if bytes are left over, and returns the error.
func (d *Decoder) Close() error {
	if d.err == nil && d.off != len(d.b) {
		d.Fail("%d bytes left over", len(d.b)-d.off)
	}
	return d.err
}

// Uint reads a varint.
func (d *Decoder) Uint() uint64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.off:])
	if n <= 0 {
		d.Fail("bad varint")
		return 0
	}
	d.off += n
	return v
}

// Int reads a zig-zag varint.
func (d *Decoder) Int() int64 {
	if d.err != nil {
		return 0
	}
	v, n := binary.Varint(d.b[d.off:])
	if n <= 0 {
		d.Fail("bad varint")
		return 0
	}
	d.off += n
	return v
}

// Time reads a stream time.
func (d *Decoder) Time() Time { return Time(d.Int()) }

// Count reads a length and checks that as many items of at least minSize bytes can follow.
func (d *Decoder) Count(minSize int) int {
	n := d.Uint()
	if d.err == nil && n > uint64(d.Remaining()/max(1, minSize)) {
		d.Fail("%d items announced, %d bytes left", n, d.Remaining())
	}
	if d.err != nil {
		return 0
	}
	return int(n)
}

func (d *Decoder) take(n int) []byte {
	if d.err != nil || n > d.Remaining() {
		d.Fail("%d bytes wanted, %d left", n, d.Remaining())
		return nil
	}
	v := d.b[d.off : d.off+n : d.off+n]
	d.off += n
	return v
}

// Bool reads one byte.
func (d *Decoder) Bool() bool {
	v := d.take(1)
	if v == nil {
		return false
	}
	if v[0] > 1 {
		d.Fail("boolean %d", v[0])
	}
	return v[0] == 1
}

// Float reads eight bytes.
func (d *Decoder) Float() float64 {
	v := d.take(8)
	if v == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}

// Bytes reads a slice; it aliases the input.
func (d *Decoder) Bytes() []byte { return d.take(d.Count(1)) }

// String reads a string.
func (d *Decoder) String() string { return string(d.Bytes()) }

// Ints reads a slice of eight-byte integers.
func (d *Decoder) Ints() []int64 { return readWords64[int64](d) }

// Times reads a slice of stream times.
func (d *Decoder) Times() []Time { return readWords64[Time](d) }

// Uint64s reads a slice of eight-byte words.
func (d *Decoder) Uint64s() []uint64 { return readWords64[uint64](d) }

func readWords64[T ~int64 | ~uint64](d *Decoder) []T {
	raw := d.items(8)
	if raw == nil {
		return nil
	}
	out := make([]T, len(raw)/8)
	for i := range out {
		out[i] = T(binary.LittleEndian.Uint64(raw))
		raw = raw[8:]
	}
	return out
}

// Uint32s reads a slice of four-byte words.
func (d *Decoder) Uint32s() []uint32 {
	raw := d.items(4)
	if raw == nil {
		return nil
	}
	out := make([]uint32, len(raw)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(raw)
		raw = raw[4:]
	}
	return out
}

// Floats reads a slice of floats.
func (d *Decoder) Floats() []float64 {
	raw := d.items(8)
	if raw == nil {
		return nil
	}
	out := make([]float64, len(raw)/8)
	for i := range out {
		out[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw))
		raw = raw[8:]
	}
	return out
}

// items reads a count and takes the bytes of so many items; nil after an error.
func (d *Decoder) items(size int) []byte { return d.take(d.Count(size) * size) }

// Bools reads a slice of booleans.
func (d *Decoder) Bools() []bool {
	n := d.Uint()
	if n == 0 || d.err != nil {
		return nil
	}
	if n-1 > uint64(d.Remaining()) {
		d.Fail("%d booleans announced, %d bytes left", n-1, d.Remaining())
		return nil
	}
	raw := d.take(int(n - 1))
	out := make([]bool, n-1)
	for i, v := range raw {
		out[i] = v != 0
	}
	return out
}
