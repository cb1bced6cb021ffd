package arrowio

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Reader reads the records of an Arrow file or stream. Whatever the bytes hold, it does not panic and does not take
// more memory than it was given.
type Reader struct {
	mem    *meter
	stream *ipc.Reader
}

// DefaultMemory bounds what one record may take to decode, unless Options says otherwise.
const DefaultMemory = 256 << 20

// Options of Open.
type Options struct {
	// MemoryBytes bounds what decoding one record may allocate, with the dictionaries that come before it; 0 is
	// DefaultMemory.
	MemoryBytes int64
}

// Open begins to read a stream, or a file, which it reads from front to back: r need not seek, and may be decompressed
// on the way. The caller closes r after the last record.
func Open(r io.Reader, opt Options) (*Reader, error) {
	if opt.MemoryBytes <= 0 {
		opt.MemoryBytes = DefaultMemory
	}
	rd := &Reader{mem: &meter{limit: opt.MemoryBytes}}
	err := guard(func() (err error) {
		rd.stream, err = ipc.NewReaderFromMessageReader(&messages{r: r, mem: rd.mem}, ipc.WithAllocator(rd.mem))
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("arrow: open: %w", err)
	}
	return rd, nil
}

// Schema returns the schema of the records.
func (rd *Reader) Schema() *arrow.Schema { return rd.stream.Schema() }

// Next returns the next record, or io.EOF after the last. The record may be kept.
func (rd *Reader) Next() (rec arrow.RecordBatch, err error) {
	rd.mem.reset()
	err = guard(func() error {
		rec, err = rd.stream.Read()
		return err
	})
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	if err != nil {
		return nil, fmt.Errorf("arrow: %w", err)
	}
	return rec, nil
}
