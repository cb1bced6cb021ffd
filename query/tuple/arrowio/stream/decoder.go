package stream

import (
	"math/bits"

	"fednode/query/tuple"
)

// Decoder turns the chunks of one subscription back into batches. It expects any bytes whatever.
type Decoder struct {
	schema *tuple.Schema
	plain  []bool
	dicts  []*tuple.DictBuilder // by column; nil if plain
	order  []int                // the column of each dictionary id
	begun  []bool               // by column: the dictionary has had its first batch
	unzip  decompressor
	budget int      // bytes that decompression may still give in this chunk
	count  []uint32 // 0, 1, 2 … for columns without dictionary; shared by batches, never changed
	stride [2][]uint32
}

// NewDecoder returns a decoder that expects the beginning of a stream. If want is not nil, a stream of any other schema
// is refused.
func NewDecoder(want *tuple.Schema) (*Decoder, error) {
	if err := checkProcessor(); err != nil {
		return nil, err
	}
	return &Decoder{schema: want}, nil
}

// Schema returns the schema, or nil before the first chunk where none was asked for.
func (d *Decoder) Schema() *tuple.Schema { return d.schema }

// Decode reads a chunk that must hold exactly so many rows, and returns them as an owned batch that keeps the memory of
// src. Any error is an *Error and ends the stream.
func (d *Decoder) Decode(src []byte, rows int) (*tuple.Batch, error) {
	if len(src) > MaxBytes {
		return nil, fault(OverLimit, "a chunk of %d bytes, at most %d are allowed", len(src), MaxBytes)
	}
	d.budget = MaxBytes
	var b *tuple.Batch
	for first := true; len(src) > 0; first = false {
		m, rest, err := nextMessage(src)
		if err != nil {
			return nil, err
		}
		src = rest
		switch {
		case b != nil:
			return nil, fault(Malformed, "a message after the rows")
		case m.kind == headerSchema && first:
			err = d.begin(m)
		case m.kind == headerDictionary && d.order != nil:
			err = d.dictionary(m)
		case m.kind == headerRecord && d.order != nil:
			b, err = d.record(m, rows)
		default:
			err = fault(Malformed, "a message of kind %d out of place", m.kind)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.finish(b, rows)
}

func (d *Decoder) finish(b *tuple.Batch, rows int) (*tuple.Batch, error) {
	if d.order == nil {
		return nil, fault(Malformed, "rows before the schema")
	}
	if b == nil && rows > 0 {
		return nil, fault(BadRows, "no rows, %d announced", rows)
	}
	if b == nil {
		b = tuple.NewBatchBuilder(d.schema).Take()
	}
	return b, nil
}

// begin takes a schema: the stream's first, or its restart.
func (d *Decoder) begin(m message) error {
	s, plain, err := readSchema(m)
	if err != nil {
		return err
	}
	if d.schema != nil && !d.schema.Equal(s) {
		return fault(BadSchema, "columns (%.500v), expected (%.500v)", s, d.schema)
	}
	if d.schema == nil {
		d.schema = s
	}
	d.plain, d.order = plain, []int{}
	d.dicts, d.begun = make([]*tuple.DictBuilder, s.Len()), make([]bool, s.Len())
	for i, f := range s.Fields() {
		if f.Type.Kind.IsBinary() && !plain[i] {
			d.dicts[i] = tuple.NewDictBuilder()
			d.order = append(d.order, i)
		}
	}
	return nil
}

func (d *Decoder) record(m message, rows int) (*tuple.Batch, error) {
	r, err := d.openRecord(m.meta, m.header, m.body)
	if err != nil {
		return nil, err
	}
	if r.rows != rows || rows == 0 {
		return nil, fault(BadRows, "%d rows, %d announced", r.rows, rows)
	}
	b := &tuple.Batch{Schema: d.schema, Cols: make([]tuple.Column, d.schema.Len())}
	stimes := tuple.Column{Type: tuple.Of(tuple.Timestamp)}
	if err := r.column(&stimes, nil, rows); err != nil {
		return nil, at("stime", err)
	}
	if stimes.Valid != nil {
		return nil, fault(BadValue, "a row without stime")
	}
	b.Time = wordsOf[tuple.Time](bytesOf(stimes.Int), rows)
	for i := range b.Cols {
		f := d.schema.Field(i)
		b.Cols[i].Type = f.Type
		if err := r.column(&b.Cols[i], d.dicts[i], rows); err != nil {
			return nil, at(f.Name, err)
		}
	}
	return b, r.close()
}

// at names the column in an error.
func at(column string, err error) error {
	if e, ok := err.(*Error); ok {
		return fault(e.Fault, "column %q: %s", column, e.Reason)
	}
	return err
}

// upTo returns 0, 1, … n-1, shared where n is that of a usual chunk.
func (d *Decoder) upTo(n int) []uint32 {
	if n <= len(d.count) {
		return d.count[:n:n]
	}
	size := n
	if n <= MaxRows {
		size = 1 << bits.Len(uint(max(n, 4096)-1))
	}
	count := make([]uint32, size)
	for i := range count {
		count[i] = uint32(i)
	}
	if n <= MaxRows {
		d.count = count
	}
	return count[:n:n]
}

// strides returns 0, w, 2w … nw.
func (d *Decoder) strides(w, n int) []uint32 {
	keep := &d.stride[w-16]
	if n < len(*keep) {
		return (*keep)[: n+1 : n+1]
	}
	off := make([]uint32, n+1)
	for i := range off {
		off[i] = uint32(w * i)
	}
	if n <= MaxRows {
		*keep = off
	}
	return off
}
