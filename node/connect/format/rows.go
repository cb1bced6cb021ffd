package format

import (
	"fednode/node/connect"
	"fednode/query/tuple"
)

// maxRejects bounds the rejects of one block, so that a file of nothing but broken records stays small in memory.
const maxRejects = 256

// maxBlockBytes bounds the text that the rows of one block were read from, so that a block of huge rows is short.
const maxBlockBytes = 8 << 20

// Rows collects the rows of a stream in columns, and the rejects among them, until it is taken as a block.
type Rows struct {
	stream   *connect.Stream
	cols     []column
	n        int // complete rows
	max      int
	size     int          // bytes of text the rows were read from
	batch    *tuple.Batch // of a format that comes in columns: the whole block
	rejects  []connect.Reject
	file     string // name of the current input, for places
	fileText []byte
	places   []placeCol
}

type placeCol struct {
	col   int
	field string
}

// NewRows returns an empty collection of at most max rows a block. What the format fixes, such as the unit of Zeek times, comes from o.
func NewRows(s *connect.Stream, max int, o *Options) *Rows {
	r := &Rows{stream: s, max: max, cols: make([]column, len(s.Columns))}
	for i := range s.Columns {
		r.cols[i].init(&s.Columns[i], o)
		switch f := s.Columns[i].Field; f {
		case connect.FieldFile, connect.FieldLine, connect.FieldOffset:
			r.places = append(r.places, placeCol{i, f})
		}
	}
	r.start(min(max, 1024))
	return r
}

func (r *Rows) start(capacity int) {
	for i := range r.cols {
		r.cols[i].start(capacity)
	}
	r.n, r.size = 0, 0
	r.rejects, r.batch = nil, nil
}

// SetFile names the input that the next rows come from.
func (r *Rows) SetFile(name string) { r.file, r.fileText = name, []byte(name) }

// Len returns the number of rows collected.
func (r *Rows) Len() int {
	if r.batch != nil {
		return r.batch.Rows()
	}
	return r.n
}

// Rejected returns the number of rejects collected.
func (r *Rows) Rejected() int { return len(r.rejects) }

// Full reports whether the block has reached its size.
func (r *Rows) Full() bool {
	return r.n >= r.max || r.batch != nil || len(r.rejects) >= maxRejects || r.size >= maxBlockBytes
}

// fill gives every column that has no value of the record with this serial a null.
func (r *Rows) fill(serial uint64) {
	for i := range r.cols {
		if c := &r.cols[i]; c.serial != serial && c.parse != parsePlace {
			c.appendNull()
		}
	}
}

// endRow completes the row that every column but the places has received a value for. It is refused if the column of
// its time is null.
func (r *Rows) endRow(line, offset int64) (col int, reason connect.Reason) {
	for _, p := range r.places {
		c := &r.cols[p.col]
		switch p.field {
		case connect.FieldFile:
			c.appendValue(r.fileText)
		case connect.FieldLine:
			c.appendInt(line)
		case connect.FieldOffset:
			c.appendInt(offset)
		}
	}
	if t := r.stream.TimeColumn; t >= 0 {
		c := &r.cols[t]
		if c.valid != nil && !c.valid[r.n] {
			return t, connect.NoTime
		}
		if endOfTime(c.ints[r.n]) {
			return t, connect.OutOfRange
		}
	}
	r.n++
	return 0, connect.OK
}

// undo drops what the columns have received since the last complete row.
func (r *Rows) undo() {
	for i := range r.cols {
		r.cols[i].truncate(r.n)
	}
}

// endOfTime reports whether a time is one of the two that mean "before everything" and "end of the stream": no row may
// claim to be either.
func endOfTime(t int64) bool {
	return tuple.Time(t) == tuple.MinTime || tuple.Time(t) == tuple.MaxTime
}

// record is a record as it stands in the input, for a reject.
type record struct {
	line, offset int64
	raw          []byte
	size         int64
}

// reject undoes the current row and sets its record aside. col is -1 if no column is to blame; value is what the column
// was to be read from.
func (r *Rows) reject(rec record, reason connect.Reason, col int, detail string) {
	r.undo()
	rej := connect.Reject{Reason: reason, Detail: detail, Before: r.n, Size: rec.size,
		Place: connect.Place{File: r.file, Line: rec.line, Offset: rec.offset}}
	if col >= 0 {
		rej.Field = r.stream.Columns[col].Name
	}
	rej.Raw = append(make([]byte, 0, min(len(rec.raw), connect.MaxRaw)), rec.raw[:min(len(rec.raw), connect.MaxRaw)]...)
	r.rejects = append(r.rejects, rej)
}

// rejectValue sets the record aside because the value of a column could not be read.
func (r *Rows) rejectValue(rec record, reason connect.Reason, col int, value []byte) {
	r.reject(rec, reason, col, r.cols[col].describe(value, reason))
}

// Take returns what was collected as a block without position and status, and starts the next one.
func (r *Rows) Take() *connect.Block {
	b := &connect.Block{Rejects: r.rejects}
	if r.batch != nil && r.batch.Rows() > 0 {
		b.Batch = r.batch
	}
	if r.n > 0 {
		batch := &tuple.Batch{Schema: r.stream.Schema, Time: make([]tuple.Time, r.n), Cols: make([]tuple.Column, len(r.cols))}
		for i := range r.cols {
			r.cols[i].take(&batch.Cols[i])
		}
		if t := r.stream.TimeColumn; t >= 0 {
			for i, v := range batch.Cols[t].Int {
				batch.Time[i] = tuple.Time(v)
			}
		}
		b.Batch = batch
	}
	r.start(min(r.max, max(r.n, 64)))
	return b
}
