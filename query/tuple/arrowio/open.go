package arrowio

import (
	"bytes"
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
	schema *arrow.Schema
	file   *ipc.FileReader
	stream *ipc.Reader
	next   int
}

// DefaultMemory bounds what one record may take to decode, unless Options says otherwise.
const DefaultMemory = 256 << 20

// Options of Open.
type Options struct {
	// MemoryBytes bounds what decoding one record, and opening, may allocate; 0 is DefaultMemory. Dictionaries count
	// with the record they come with.
	MemoryBytes int64
}

// Open begins reading. If r can seek and starts with the magic of the Arrow file format it is read as a file, else as a
// stream. The caller closes r after the last record.
func Open(r io.Reader, opt Options) (*Reader, error) {
	if opt.MemoryBytes <= 0 {
		opt.MemoryBytes = DefaultMemory
	}
	rd := &Reader{mem: &meter{limit: opt.MemoryBytes}}
	err := guard(func() error { return rd.open(r, opt) })
	if err != nil {
		return nil, fmt.Errorf("arrow: open: %w", err)
	}
	return rd, nil
}

func (rd *Reader) open(r io.Reader, opt Options) (err error) {
	if s, ok := r.(ipc.ReadAtSeeker); ok && hasFileMagic(s) {
		return rd.openFile(s, opt)
	}
	// Checked before the decoder sees it; then the decoder gets the same bytes again.
	head, err := schemaMessage(r)
	if err != nil {
		return err
	}
	messages := ipc.NewMessageReader(io.MultiReader(bytes.NewReader(head), r), ipc.WithAllocator(rd.mem),
		ipc.WithMetadataSizeLimit(maxMetadata), ipc.WithBodySizeLimit(opt.MemoryBytes))
	if rd.stream, err = ipc.NewReaderFromMessageReader(messages, ipc.WithAllocator(rd.mem)); err == nil {
		rd.schema = rd.stream.Schema()
	}
	return err
}

func (rd *Reader) openFile(r ipc.ReadAtSeeker, opt Options) (err error) {
	if err := checkFooter(r); err != nil {
		return err
	}
	rd.file, err = ipc.NewFileReader(r, ipc.WithAllocator(rd.mem),
		ipc.WithMetadataSizeLimit(maxMetadata), ipc.WithBodySizeLimit(opt.MemoryBytes))
	if err == nil {
		rd.schema = rd.file.Schema()
	}
	return err
}

func hasFileMagic(r io.ReaderAt) bool {
	head := make([]byte, len(ipc.Magic))
	n, _ := r.ReadAt(head, 0)
	return n == len(head) && bytes.Equal(head, ipc.Magic)
}

// Schema returns the schema of the records.
func (rd *Reader) Schema() *arrow.Schema { return rd.schema }

// Next returns the next record, or io.EOF after the last. The record may be kept.
func (rd *Reader) Next() (rec arrow.RecordBatch, err error) {
	rd.mem.reset()
	err = guard(func() error {
		rec, err = rd.read()
		return err
	})
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, io.EOF
	}
	return rec, err
}

func (rd *Reader) read() (arrow.RecordBatch, error) {
	if rd.stream != nil {
		return rd.stream.Read()
	}
	if rd.next >= rd.file.NumRecords() {
		return nil, io.EOF
	}
	rec, err := rd.file.RecordBatchAt(rd.next)
	rd.next++
	return rec, err
}
