package format

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"fednode/node/connect"
	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
)

// records is a sequence of Arrow records: an Arrow file or stream, or a Parquet file.
type records interface {
	Schema() *arrow.Schema
	// Next returns the next record, or io.EOF after the last.
	Next() (arrow.RecordBatch, error)
}

// arrowReader reads rows out of records. Its place is a row number: a new reader passes over the rows before.
type arrowReader struct {
	stream *connect.Stream
	src    io.Reader
	open   func(io.Reader) (records, error)

	in      records
	im      *arrowImport
	pending *tuple.Batch // rows read and not yet given
	bad     []arrowio.RowError
	from    int   // rows of pending already given
	row     int64 // number of the next row to give
	skip    int64
	cut     error // how the input is to end, although all its records were read
}

func newArrowReader(s *connect.Stream, src io.Reader) *arrowReader {
	r := &arrowReader{stream: s, src: src}
	r.open = r.openArrow
	return r
}

// arrowMagic begins and ends an Arrow file.
const arrowMagic = "ARROW1"

func (r *arrowReader) openArrow(src io.Reader) (records, error) {
	if f, ok := src.(io.ReadSeeker); ok {
		whole, err := isWhole(f)
		if err != nil {
			return nil, err
		}
		if !whole {
			r.cut = &InputError{connect.EndTruncated, errors.New("the index at the end of the Arrow file is missing"), -1}
		}
	}
	return arrowio.Open(src, arrowio.Options{})
}

// isWhole reports whether what begins like an Arrow file ends like one; its records alone do not tell, since a file may
// be cut between two of them.
func isWhole(f io.ReadSeeker) (bool, error) {
	whole := true
	isFile, err := magicAt(f, 0, io.SeekStart)
	if err == nil && isFile {
		whole, err = magicAt(f, -int64(len(arrowMagic)), io.SeekEnd)
	}
	if err != nil {
		return false, err
	}
	_, err = f.Seek(0, io.SeekStart)
	return whole, err
}

func magicAt(f io.ReadSeeker, offset int64, whence int) (bool, error) {
	if _, err := f.Seek(offset, whence); err != nil {
		return false, err
	}
	var b [len(arrowMagic)]byte
	_, err := io.ReadFull(f, b[:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return false, nil
	}
	return string(b[:]) == arrowMagic, err
}

func (r *arrowReader) Notice() string { return "" }

func (r *arrowReader) Save(e *tuple.Encoder) { e.Int(r.row) }

func (r *arrowReader) Restore(d *tuple.Decoder) int64 {
	if r.skip = d.Int(); r.skip < 0 {
		d.Fail("row %d", r.skip)
	}
	return 0
}

func (r *arrowReader) Read(rows *Rows, _ bool) error {
	if r.in == nil {
		if err := r.begin(rows); err != nil {
			return err
		}
	}
	for !rows.Full() {
		if r.pending == nil {
			if err := r.next(rows); err != nil {
				return err
			}
		}
		if n := int64(r.pending.Rows() - r.from); r.skip >= r.row+n {
			r.row += n
			r.pending = nil
			continue
		} else if r.skip > r.row {
			r.from += int(r.skip - r.row)
			r.row = r.skip
		}
		if r.from == r.pending.Rows() {
			r.pending = nil
			continue
		}
		r.give(rows)
	}
	return nil
}

func (r *arrowReader) begin(rows *Rows) error {
	in, err := r.open(r.src)
	if err != nil {
		return r.damaged(err)
	}
	im, err := newArrowImport(in.Schema(), r.stream, rows.file)
	if err != nil {
		return err
	}
	r.in, r.im = in, im
	return nil
}

func (r *arrowReader) damaged(err error) error {
	var already *InputError
	switch {
	case errors.As(err, &already):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return &InputError{connect.EndTruncated, err, -1}
	}
	return &InputError{connect.EndCorrupt, err, -1}
}

func (r *arrowReader) next(rows *Rows) error {
	rec, err := r.in.Next()
	if err == io.EOF {
		if r.cut != nil {
			return r.cut
		}
		return io.EOF
	}
	if err != nil {
		return r.damaged(err)
	}
	if r.pending, r.bad, err = r.im.batch(rec); err != nil {
		return r.damaged(fmt.Errorf("arrow record: %w", err))
	}
	r.from = 0
	return nil
}

// give hands over as many pending rows as a block takes, those that cannot be had as rejects.
func (r *arrowReader) give(rows *Rows) {
	lo := r.from
	hi := min(r.pending.Rows(), lo+rows.max)
	part := r.pending.Slice(lo, hi)
	r.im.places(part, rows.file, r.row)
	if r.whole(part) {
		r.hand(rows, part, hi)
		return
	}
	reasons := make(map[int]arrowio.RowError)
	for _, b := range r.bad {
		if b.Row >= lo && b.Row < hi {
			reasons[b.Row-lo] = b
		}
	}
	t := r.stream.TimeColumn
	sel := make([]uint32, 0, hi-lo)
	for i := 0; i < hi-lo; i++ {
		if len(rows.rejects) >= maxRejects {
			hi = lo + i // the rest goes into the next block
			break
		}
		at := connect.Place{File: rows.file, Offset: r.row + int64(i)}
		if b, bad := reasons[i]; bad {
			rows.rejects = append(rows.rejects, connect.Reject{Reason: connect.WrongType, Field: r.im.column(b.Column), Detail: b.Reason, Before: len(sel), Place: at})
		} else if t >= 0 && part.Cols[t].IsNull(i) {
			rows.rejects = append(rows.rejects, connect.Reject{Reason: connect.NoTime, Field: r.stream.Columns[t].Name,
				Detail: "the time of the row is missing", Before: len(sel), Place: at})
		} else if t >= 0 && endOfTime(part.Cols[t].Int[i]) {
			rows.rejects = append(rows.rejects, connect.Reject{Reason: connect.OutOfRange, Field: r.stream.Columns[t].Name,
				Detail: "the time of the row is no time", Before: len(sel), Place: at})
		} else {
			sel = append(sel, uint32(i))
		}
	}
	if len(sel) < part.Rows() {
		part.Sel = sel
		part = part.Clone()
	}
	r.hand(rows, part, hi)
}

// whole reports whether no row of a part has to be set aside.
func (r *arrowReader) whole(part *tuple.Batch) bool {
	t := r.stream.TimeColumn
	switch {
	case len(r.bad) > 0:
		return false
	case t < 0:
		return true
	case part.Cols[t].Valid != nil:
		return false
	}
	for _, v := range part.Cols[t].Int {
		if endOfTime(v) {
			return false
		}
	}
	return true
}

// hand gives the rows of a part to the block; hi is where the record goes on.
func (r *arrowReader) hand(rows *Rows, part *tuple.Batch, hi int) {
	r.row += int64(hi - r.from)
	if r.from = hi; r.from == r.pending.Rows() {
		r.pending = nil
	}
	if t := r.stream.TimeColumn; t >= 0 {
		part.Time = make([]tuple.Time, part.Rows())
		for i, v := range part.Cols[t].Int {
			part.Time[i] = tuple.Time(v)
		}
	}
	rows.batch = part
}
