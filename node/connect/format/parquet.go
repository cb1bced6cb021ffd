//go:build parquet

package format

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"fednode/node/connect"
)

// HasParquet reports whether this build reads Parquet.
const HasParquet = true

func newParquetReader(s *connect.Stream, src io.Reader) (Reader, error) {
	if _, ok := src.(parquet.ReaderAtSeeker); !ok {
		return nil, errors.New("Parquet is read from a file that is not compressed as a whole: its index is at the end")
	}
	r := &arrowReader{stream: s, src: src}
	r.open = openParquet
	return r, nil
}

// parquetRecords reads the rows of a Parquet file as Arrow records.
type parquetRecords struct {
	schema *arrow.Schema
	reader pqarrow.RecordReader
}

func openParquet(src io.Reader) (in records, err error) {
	defer recovered(&err)
	f, err := file.NewParquetReader(src.(parquet.ReaderAtSeeker))
	if err != nil {
		return nil, err
	}
	fr, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: connect.DefaultBlockRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	schema, err := fr.Schema()
	if err != nil {
		return nil, err
	}
	rr, err := fr.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return nil, err
	}
	return &parquetRecords{schema, rr}, nil
}

// recovered turns a panic of the library on a damaged file into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("parquet: %v", p)
	}
}

// Schema returns the schema of the records.
func (p *parquetRecords) Schema() *arrow.Schema { return p.schema }

// Next returns the next record, or io.EOF after the last. It may be kept.
func (p *parquetRecords) Next() (rec arrow.RecordBatch, err error) {
	defer recovered(&err)
	if !p.reader.Next() {
		if err := p.reader.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	rec = p.reader.RecordBatch()
	rec.Retain()
	return rec, nil
}
