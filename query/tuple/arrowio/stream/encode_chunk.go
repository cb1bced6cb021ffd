package stream

import (
	"encoding/binary"

	"fednode/query/tuple"
)

const continuation = 0xFFFFFFFF

// cursor is the place in the message being written.
type cursor struct {
	t    *template
	at   int // of the message in out
	body int // of its body in out
	node int // field nodes written
	buf  int // buffers written
	raw  int // bytes of all buffers before compression
}

// Append appends a chunk with the next n pending rows to dst: the schema, if the stream begins or was restarted; the
// growth of the dictionaries as far as these rows need it; the rows, if n > 0. The chunk begins where dst ends, which
// the caller has aligned to eight bytes. After an error the encoder is of no use.
func (e *Encoder) Append(dst []byte, n int) ([]byte, error) {
	e.out = dst
	if e.fresh {
		schema, err := schemaMessage(e.schema, e.plain())
		if err != nil {
			return dst, err
		}
		e.out = append(e.out, schema...)
		e.fresh = false
	}
	if n > 0 {
		raw := e.appendDictionaries(n) + e.appendRecord(n)
		if raw > MaxBytes-slack {
			return dst, ErrRowTooLarge
		}
		if e.pos += n; e.pos == e.batch.Rows() {
			e.batch, e.pos = nil, 0
		}
	}
	out := e.out
	e.out = nil
	return out, nil
}

func (e *Encoder) plain() []bool {
	plain := make([]bool, len(e.cols))
	for i := range e.cols {
		plain[i] = e.cols[i].plain
	}
	return plain
}

func (e *Encoder) begin(t *template) {
	e.msg = cursor{t: t, at: len(e.out)}
	e.out = append(e.out, t.bytes...)
	e.msg.body = len(e.out)
}

func (e *Encoder) end(rows int) {
	head := e.out[e.msg.at:]
	putI64(head[e.msg.t.length:], int64(rows))
	putI64(head[e.msg.t.bodyLength:], int64(len(e.out)-e.msg.body))
}

func (e *Encoder) node(rows, nulls int) {
	at := e.out[e.msg.at+e.msg.t.nodes+16*e.msg.node:]
	putI64(at, int64(rows))
	putI64(at[8:], int64(nulls))
	e.msg.node++
}

// buffer closes the buffer whose bytes were appended to out from start on.
func (e *Encoder) buffer(start int) {
	e.msg.raw += len(e.out) - start
	if e.codec != None && len(e.out) > start {
		e.compress(start)
	}
	at := e.out[e.msg.at+e.msg.t.buffers+16*e.msg.buf:]
	putI64(at, int64(start-e.msg.body))
	putI64(at[8:], int64(len(e.out)-start))
	e.out = pad(e.out, e.msg.body)
	e.msg.buf++
}

// compress replaces the bytes from start on by their length and their compressed form, or by -1 and themselves.
func (e *Encoder) compress(start int) {
	raw := e.out[start:]
	size := int64(len(raw))
	packed, ok := e.zip.pack(append(e.scratch[:0], 0, 0, 0, 0, 0, 0, 0, 0), raw)
	if !ok {
		size, packed = -1, append(packed, raw...)
	}
	putI64(packed, size)
	e.out = append(e.out[:start], packed...)
	e.scratch = packed
}

// appendDictionaries sends what the next n rows need of the dictionaries and returns its size.
func (e *Encoder) appendDictionaries(n int) (raw int) {
	id := int64(0)
	for i := range e.cols {
		c := &e.cols[i]
		if c.dict == nil {
			continue
		}
		if end := e.needed(i, n); end > c.sent || !c.begun {
			raw += e.appendDictionary(id, i, end)
		}
		id++
	}
	return raw
}

// needed returns the number of values that the receiver must have for the next n rows.
func (e *Encoder) needed(k, n int) int {
	c, src := &e.cols[k], &e.batch.Cols[k]
	if e.pos+n == e.batch.Rows() {
		return c.dict.Len()
	}
	end := c.sent
	for i := e.pos; i < e.pos+n; i++ {
		if code := int(c.codes[i]); code >= end && !src.IsNull(e.batch.Row(i)) {
			end = code + 1
		}
	}
	return end
}

func (e *Encoder) appendDictionary(id int64, k, end int) int {
	c, t := &e.cols[k], e.dicts[k]
	e.begin(t)
	head := e.out[e.msg.at:]
	putI64(head[t.id:], id)
	head[t.delta] = 0
	if c.begun {
		head[t.delta] = 1
	}
	e.node(end-c.sent, 0)
	e.buffer(len(e.out)) // no value is null
	off, data := c.dict.Dict().Raw()
	off = off[c.sent : end+1]
	if width(c.typ.Kind) == 0 {
		e.offsets(off)
	}
	start := len(e.out)
	e.out = append(e.out, data[off[0]:off[len(off)-1]]...)
	e.buffer(start)
	e.end(end - c.sent)
	c.sent, c.begun = end, true
	return e.msg.raw
}

// offsets writes offsets as one buffer, counted from the first.
func (e *Encoder) offsets(off []uint32) {
	start := len(e.out)
	var to []byte
	e.out, to = extend(e.out, 4*len(off))
	for i, o := range off {
		binary.LittleEndian.PutUint32(to[4*i:], o-off[0])
	}
	e.buffer(start)
}

func (e *Encoder) appendRecord(n int) int {
	e.begin(e.record)
	b, lo := e.batch, e.pos
	if b.Sel == nil {
		e.node(n, 0)
		e.buffer(len(e.out))
		e.words(bytesOf(b.Time[lo:lo+n]), nil)
	} else {
		e.node(n, 0)
		e.buffer(len(e.out))
		e.words(bytesOf(b.Time), b.Sel[lo:lo+n])
	}
	for k := range e.cols {
		c := &e.cols[k]
		src, sel := &b.Cols[k], []uint32(nil)
		if b.Sel == nil {
			view := src.Slice(lo, lo+n)
			src = &view
		} else {
			sel = b.Sel[lo : lo+n]
		}
		if c.dict != nil {
			e.indices(src, sel, c.codes[lo:lo+n])
		} else {
			e.column(src, sel, n)
		}
	}
	e.end(n)
	return e.msg.raw
}

func (e *Encoder) indices(src *tuple.Column, sel []uint32, codes []uint16) {
	e.validity(src.Valid, sel, len(codes))
	start := len(e.out)
	var to []byte
	e.out, to = extend(e.out, 2*len(codes))
	for i, code := range codes {
		binary.LittleEndian.PutUint16(to[2*i:], code)
	}
	e.buffer(start)
}
