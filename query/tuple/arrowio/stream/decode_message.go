package stream

import (
	"encoding/binary"

	"fednode/query/tuple/arrowio/internal/flat"
)

// maxMessageMeta bounds the metadata of one message.
const maxMessageMeta = 1 << 20

// message is one encapsulated Arrow message, its parts lying inside the chunk.
type message struct {
	kind   uint8
	meta   *flat.Buffer
	header int // position of the header table in meta
	body   []byte
}

// nextMessage cuts the first message off src and returns the rest.
func nextMessage(src []byte) (m message, rest []byte, err error) {
	if len(src) < 8 || binary.LittleEndian.Uint32(src) != continuation {
		return m, nil, fault(Malformed, "%d bytes that do not begin an Arrow message", len(src))
	}
	n := int(binary.LittleEndian.Uint32(src[4:]))
	src = src[8:]
	if n == 0 {
		return m, nil, fault(Malformed, "an end of stream inside a frame")
	}
	if n > maxMessageMeta || n > len(src) {
		return m, nil, fault(Malformed, "message metadata of %d bytes, %d follow", n, len(src))
	}
	f := &flat.Buffer{B: src[:n]}
	src = src[n:]
	root := f.Root()
	if v := f.Field(root, slotVersion); v == 0 || f.U16(v) != versionV5 {
		return m, nil, fault(Malformed, "Arrow metadata of another version than 5")
	}
	if k := f.Field(root, slotHeaderType); k != 0 {
		m.kind = f.U8(k)
	}
	var body int64
	if b := f.Field(root, slotBodyLength); b != 0 {
		body = f.I64(b)
	}
	m.meta, m.header = f, f.Table(root, slotHeader)
	if f.Bad() || m.header == 0 {
		return m, nil, fault(Malformed, "message metadata that points outside itself")
	}
	if body < 0 || body > int64(len(src)) {
		return m, nil, fault(Malformed, "a message body of %d bytes, %d follow", body, len(src))
	}
	m.body = src[:body]
	return m, src[body:], nil
}

// record is a record batch being read: the field nodes and buffers are taken one after the other.
type record struct {
	f            *flat.Buffer
	body         []byte
	rows         int
	node, nodes  int // position of the next, and how many are left
	buf, buffers int
	end          int64 // of the buffers taken so far
	codec        Codec
	d            *Decoder
}

// openRecord reads the head of a record batch, in a message of its own or inside a dictionary batch.
func (d *Decoder) openRecord(f *flat.Buffer, table int, body []byte) (*record, error) {
	r := &record{f: f, body: body, d: d}
	rows := int64(0)
	if p := f.Field(table, slotLength); p != 0 {
		rows = f.I64(p)
	}
	r.node, r.nodes = f.Vector(table, slotNodes, 16)
	r.buf, r.buffers = f.Vector(table, slotBuffers, 16)
	if c := f.Table(table, slotCompression); c != 0 {
		r.codec = LZ4 // the default value, which is left out
		if p := f.Field(c, 0); p != 0 {
			r.codec = Codec(f.U8(p)) + 1
		}
		if p := f.Field(c, 1); p != 0 && f.U8(p) != 0 {
			return nil, fault(Malformed, "unknown way of compression %d", f.U8(p))
		}
	}
	if f.Bad() {
		return nil, fault(Malformed, "record metadata that points outside itself")
	}
	if r.codec > Zstd {
		return nil, fault(Malformed, "unknown compression %d", r.codec-1)
	}
	if rows < 0 || rows > MaxRows {
		return nil, fault(OverLimit, "%d rows in one message, at most %d are allowed", rows, MaxRows)
	}
	r.rows = int(rows)
	return r, nil
}

// field takes the next field node: a length and a count of nulls.
func (r *record) field() (rows, nulls int, err error) {
	if r.nodes == 0 {
		return 0, 0, fault(Malformed, "fewer field nodes than columns")
	}
	n, k := r.f.I64(r.node), r.f.I64(r.node+8)
	r.node, r.nodes = r.node+16, r.nodes-1
	if n < 0 || k < 0 || k > n || n > MaxBytes {
		return 0, 0, fault(Malformed, "a column of %d values with %d nulls", n, k)
	}
	return int(n), int(k), nil
}

// buffer takes the next buffer, decompressed, and checks that it has at least want bytes.
func (r *record) buffer(want int) ([]byte, error) {
	if r.buffers == 0 {
		return nil, fault(Malformed, "fewer buffers than columns need")
	}
	off, n := r.f.I64(r.buf), r.f.I64(r.buf+8)
	r.buf, r.buffers = r.buf+16, r.buffers-1
	if off < 0 || n < 0 || off > int64(len(r.body)) || n > int64(len(r.body))-off {
		return nil, fault(Malformed, "a buffer of %d bytes at %d in a body of %d", n, off, len(r.body))
	}
	// Buffers that share bytes would let a small frame ask for much memory.
	if n > 0 && off < r.end {
		return nil, fault(Malformed, "buffers that overlap at %d", off)
	}
	r.end = max(r.end, off+n)
	b := r.body[off : off+n]
	if r.codec != None && n > 0 {
		var err error
		if b, err = r.decompress(b); err != nil {
			return nil, err
		}
	}
	if len(b) < want {
		return nil, fault(Malformed, "a buffer of %d bytes, its column needs %d", len(b), want)
	}
	return b, nil
}

func (r *record) decompress(b []byte) ([]byte, error) {
	if len(b) < 8 {
		return nil, fault(Malformed, "a compressed buffer of %d bytes", len(b))
	}
	size := int64(binary.LittleEndian.Uint64(b))
	b = b[8:]
	if size == -1 {
		return b, nil
	}
	if size < 0 || size > int64(r.d.budget) {
		return nil, fault(OverLimit, "a buffer of %d bytes after decompression, %d are left of %d", size, r.d.budget, MaxBytes)
	}
	r.d.budget -= int(size)
	out, err := r.d.unzip.unpack(r.codec, b, int(size))
	if err != nil {
		return nil, fault(Malformed, "a compressed buffer that does not give its %d bytes: %v", size, err)
	}
	return out, nil
}

// close checks that nothing is left over.
func (r *record) close() error {
	if r.nodes != 0 || r.buffers != 0 {
		return fault(Malformed, "%d field nodes and %d buffers more than the columns have", r.nodes, r.buffers)
	}
	return nil
}
