package format

import (
	"fmt"
	"io"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
)

// Writer encodes batches of one schema.
type Writer interface {
	// Write appends the selected rows of a borrowed batch. Every record is handed to the destination whole.
	Write(b *tuple.Batch) error
	// Close writes what the format wants at its end; it does not close the destination.
	Close() error
}

// NewWriter returns a writer of a format. With resume, the destination already begins as the format wants: a CSV
// header is not written again.
func NewWriter(dst io.Writer, s *tuple.Schema, o Options, resume bool) (Writer, error) {
	switch o.Format {
	case CSV, TSV:
		w := &csvWriter{dst: dst, enc: newTexts(s), delim: o.Delimiter, quote: o.Quote}
		if w.quote == 0 {
			w.quote = '"'
		}
		if o.Header && !resume {
			return w, w.writeHeader(s)
		}
		return w, nil
	case JSONL:
		return &jsonWriter{dst: dst, rows: NewJSONRows(s, o.NaN)}, nil
	case Arrow:
		if resume {
			return nil, fmt.Errorf("format: an Arrow file cannot be continued")
		}
		return arrowio.NewWriter(dst, s, arrowio.FileFormat, false)
	}
	return nil, fmt.Errorf("format: %s cannot be written", o.Format)
}

// writeRows is how many rows are encoded before they are handed on: enough for few calls, little in memory.
const writeRows = 512

type csvWriter struct {
	dst   io.Writer
	enc   *texts
	delim byte
	quote byte
	buf   []byte
	cell  []byte
}

func (w *csvWriter) writeHeader(s *tuple.Schema) error {
	for i, name := range s.Names() {
		if i > 0 {
			w.buf = append(w.buf, w.delim)
		}
		w.buf = w.appendField(w.buf, []byte(name))
	}
	return w.flush('\n')
}

// Write appends the selected rows.
func (w *csvWriter) Write(b *tuple.Batch) error {
	for i := range b.Rows() {
		row := b.Row(i)
		for k := range b.Cols {
			if k > 0 {
				w.buf = append(w.buf, w.delim)
			}
			w.appendValue(&b.Cols[k], k, row)
		}
		w.buf = append(w.buf, '\n')
		if i%writeRows == writeRows-1 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

func (w *csvWriter) appendValue(c *tuple.Column, col, row int) {
	if c.IsNull(row) {
		return // an empty field without quotes
	}
	switch c.Type.Kind {
	case tuple.String, tuple.Bytes, tuple.List:
		w.cell = c.AppendText(w.cell[:0], row)
		w.buf = w.appendField(w.buf, w.cell)
	default:
		start := len(w.buf)
		w.buf = w.enc.append(w.buf, c, col, row)
		if w.delim == '.' || w.delim == '-' || w.delim == ':' || w.delim >= '0' && w.delim <= '9' {
			w.cell = append(w.cell[:0], w.buf[start:]...)
			w.buf = w.appendField(w.buf[:start], w.cell)
		}
	}
}

// appendField appends a text, in quotes if it would not be read back otherwise; an empty text is told from null by them.
func (w *csvWriter) appendField(dst, v []byte) []byte {
	plain := len(v) > 0
	for _, c := range v {
		if c == w.delim || c == w.quote || c == '\n' || c == '\r' {
			plain = false
			break
		}
	}
	if plain {
		return append(dst, v...)
	}
	dst = append(dst, w.quote)
	for _, c := range v {
		if c == w.quote {
			dst = append(dst, c)
		}
		dst = append(dst, c)
	}
	return append(dst, w.quote)
}

func (w *csvWriter) flush(end ...byte) error {
	w.buf = append(w.buf, end...)
	_, err := w.dst.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Close does nothing: CSV has no end.
func (w *csvWriter) Close() error { return nil }

type jsonWriter struct {
	dst  io.Writer
	rows *JSONRows
	buf  []byte
}

// Write appends the selected rows, one object a line.
func (w *jsonWriter) Write(b *tuple.Batch) error {
	for i := range b.Rows() {
		w.buf = append(w.rows.AppendRow(w.buf, b, b.Row(i)), '\n')
		if i%writeRows == writeRows-1 {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return w.flush()
}

func (w *jsonWriter) flush() error {
	_, err := w.dst.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

// Close does nothing: JSON lines have no end.
func (w *jsonWriter) Close() error { return nil }
