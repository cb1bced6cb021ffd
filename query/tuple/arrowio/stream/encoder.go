package stream

import (
	"fmt"

	"fednode/query/tuple"
)

// Encoder turns batches of one schema into chunks.
type Encoder struct {
	schema *tuple.Schema
	codec  Codec
	cols   []column
	zip    *compressor

	// One stream, from a schema message to the next.
	fresh    bool // the schema message is still to be sent
	restarts int
	record   *template
	dicts    []*template // by column
	rowBytes int

	// The loaded batch.
	batch *tuple.Batch
	pos   int
	total int // bytes of all its rows, estimated from above

	// The message being written.
	out     []byte
	msg     cursor
	scratch []byte
}

// NewEncoder returns an encoder that has sent nothing yet.
func NewEncoder(s *tuple.Schema, codec Codec) (*Encoder, error) {
	if err := checkProcessor(); err != nil {
		return nil, err
	}
	if s.Len() > MaxColumns {
		return nil, fmt.Errorf("stream: %d columns, at most %d can be sent", s.Len(), MaxColumns)
	}
	zip, err := newCompressor(codec)
	if err != nil {
		return nil, fmt.Errorf("stream: codec %v: %w", codec, err)
	}
	e := &Encoder{schema: s, codec: codec, zip: zip, cols: make([]column, s.Len()), dicts: make([]*template, s.Len())}
	for i, f := range s.Fields() {
		e.cols[i].typ = f.Type
	}
	e.restart()
	return e, nil
}

// restart begins a new IPC stream: what is plain by now stays so, all dictionaries are empty.
func (e *Encoder) restart() {
	e.fresh = true
	e.rowBytes = 8
	bufs, nodes := 2, 1 // the stimes
	for i := range e.cols {
		c := &e.cols[i]
		c.restart()
		b, n := buffers(c.typ, c.plain)
		bufs, nodes = bufs+b, nodes+n
		e.rowBytes += rowBytes(c.typ, c.plain)
		e.dicts[i] = nil
		if c.dict != nil {
			b, _ := buffers(c.typ, true)
			e.dicts[i] = newDictTemplate(b, e.codec)
		}
	}
	e.record = newRecordTemplate(nodes, bufs, e.codec)
}

// Restarts returns how often the stream was begun anew because a dictionary had outgrown its limits.
func (e *Encoder) Restarts() int { return e.restarts }

// Load takes the selected rows of b to be sent next; b is kept until they are. What was loaded before must be sent.
func (e *Encoder) Load(b *tuple.Batch) error {
	if e.Pending() > 0 {
		return fmt.Errorf("stream: %d rows loaded before are not sent yet", e.Pending())
	}
	if !e.schema.Equal(b.Schema) {
		return fmt.Errorf("stream: a batch of (%v) in a stream of (%v)", b.Schema, e.schema)
	}
	e.batch, e.pos = b, 0
	for !e.index() {
		e.restarts++
		e.restart()
	}
	e.total = e.estimate()
	return nil
}

// index fills the codes of all dictionary columns, or turns one of them plain and returns false.
func (e *Encoder) index() bool {
	for i := range e.cols {
		c := &e.cols[i]
		if c.dict != nil && !c.index(&e.batch.Cols[i], e.batch.Sel, e.batch.Rows()) {
			c.plain = true
			return false
		}
	}
	return true
}

// Pending returns the rows loaded and not yet sent.
func (e *Encoder) Pending() int {
	if e.batch == nil {
		return 0
	}
	return e.batch.Rows() - e.pos
}

// estimate bounds the bytes of the loaded rows from above.
func (e *Encoder) estimate() int {
	n := e.batch.Rows()
	total := e.rowBytes * n
	for i := range e.cols {
		switch c := &e.cols[i]; {
		case c.dict != nil:
			total += c.grown() + 5*(c.dict.Len()-c.sent)
		case c.typ.Kind.IsBinary() || c.typ.Kind == tuple.List:
			for row := range n {
				total += variable(&e.batch.Cols[i], e.batch.Row(row))
			}
		}
	}
	return total
}

// grown returns the bytes of the values that are not sent yet.
func (c *column) grown() int {
	off, _ := c.dict.Dict().Raw()
	return int(off[len(off)-1] - off[c.sent])
}

// variable returns the bytes that a row of a plain column takes beside its fixed part.
func variable(c *tuple.Column, row int) int {
	switch {
	case c.IsNull(row):
		return 0
	case c.Type.Kind == tuple.String || c.Type.Kind == tuple.Bytes:
		return len(c.Bin(row))
	case c.Type.Kind != tuple.List:
		return 0
	}
	n := 0
	for j := c.Off[row]; j < c.Off[row+1]; j++ {
		n += rowBytes(c.Elem.Type, true) + variable(c.Elem, int(j))
	}
	return n
}

// Fit returns how many of the pending rows, at most MaxRows, make a chunk of about limit bytes before compression: never
// more than that but for one row that is larger by itself. It is 0 only when nothing is pending.
func (e *Encoder) Fit(limit int) int {
	n := min(e.Pending(), MaxRows)
	if n == 0 || e.pos == 0 && n == e.batch.Rows() && e.total <= limit {
		return n
	}
	marks := make([]int, len(e.cols))
	for i := range e.cols {
		marks[i] = e.cols[i].sent
	}
	total := 0
	for i := range n {
		total += e.rowCost(e.pos+i, marks)
		if total > limit && i > 0 {
			return i
		}
	}
	return n
}

// rowCost returns the bytes of one row. marks holds, by column, the values that are sent by the rows before it.
func (e *Encoder) rowCost(i int, marks []int) int {
	cost, row := e.rowBytes, e.batch.Row(i)
	for k := range e.cols {
		c, src := &e.cols[k], &e.batch.Cols[k]
		if c.dict == nil {
			if c.typ.Kind.IsBinary() || c.typ.Kind == tuple.List {
				cost += variable(src, row)
			}
			continue
		}
		if src.IsNull(row) {
			continue
		}
		for code := int(c.codes[i]); marks[k] <= code; marks[k]++ {
			cost += len(c.dict.At(uint32(marks[k]))) + 5
		}
	}
	return cost
}
