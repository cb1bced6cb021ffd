package arrowio

import (
	"fmt"
	"io"

	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Format is one of the two Arrow containers.
type Format uint8

// The formats. A stream can be read while it grows; a file has an index at its end and is complete only once closed.
const (
	StreamFormat Format = iota
	FileFormat
)

// Writer writes batches of one schema as Arrow, strings as dictionary codes in streams and plain in files (the file
// format has one dictionary a column for all records).
type Writer struct {
	ex  *Exporter
	out interface {
		Write(arrow.RecordBatch) error
		Close() error
	}
}

// NewWriter returns a writer; withStime adds the column of stimes in front.
func NewWriter(w io.Writer, s *tuple.Schema, format Format, withStime bool) (*Writer, error) {
	layout := Layout{Stime: withStime}
	if format == StreamFormat {
		layout.Index = arrow.PrimitiveTypes.Int32
	}
	ex := NewExporter(s, layout)
	if format == StreamFormat {
		return &Writer{ex: ex, out: ipc.NewWriter(w, ipc.WithSchema(ex.Schema()), ipc.WithDictionaryDeltas(true))}, nil
	}
	fw, err := ipc.NewFileWriter(w, ipc.WithSchema(ex.Schema()))
	if err != nil {
		return nil, fmt.Errorf("arrow: begin file: %w", err)
	}
	return &Writer{ex: ex, out: fw}, nil
}

// Write appends the selected rows of b.
func (w *Writer) Write(b *tuple.Batch) error {
	if err := w.out.Write(w.ex.Record(b)); err != nil {
		return fmt.Errorf("arrow: write record: %w", err)
	}
	return nil
}

// Close writes what the format wants at its end; it does not close the writer below.
func (w *Writer) Close() error { return w.out.Close() }
