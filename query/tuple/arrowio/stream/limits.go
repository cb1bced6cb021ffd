package stream

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/endian"
)

// Limits of a chunk, the same for the encoder, which keeps them, and the decoder, which enforces them.
const (
	// MaxBytes bounds a chunk and everything in it after decompression.
	MaxBytes = 8 << 20
	// MaxRows bounds the rows of a chunk.
	MaxRows = 65536
	// MaxColumns bounds the columns of a schema.
	MaxColumns = 1024
	// maxName bounds a column's name, type, form and key.
	maxName = 1024
	// slack is what a chunk takes beyond its values, generously: metadata, padding, a schema.
	slack = 1 << 20
)

// Codec compresses the buffers of a chunk. The values are those of the Arrow format, shifted by one.
type Codec uint8

// The codecs.
const (
	None Codec = iota
	LZ4
	Zstd
)

// String names the codec as configuration does.
func (c Codec) String() string {
	if c <= Zstd {
		return [...]string{"none", "lz4", "zstd"}[c]
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

// Fault classes what is wrong with a chunk.
type Fault uint8

// The faults.
const (
	// Malformed: the bytes do not have the form of Arrow IPC, or a length or offset points outside.
	Malformed Fault = iota + 1
	// BadSchema: the schema is not one of ours, or not the one the stream began with.
	BadSchema
	// BadDictionary: a code outside its dictionary, a value twice, a delta without a beginning.
	BadDictionary
	// BadRows: the rows are not as many as announced.
	BadRows
	// BadValue: a value outside its type, such as a decimal of 19 digits.
	BadValue
	// OverLimit: more bytes, rows, columns or dictionary than allowed.
	OverLimit
)

// Error is what a decoder returns; the decoder is of no use afterwards.
type Error struct {
	Fault  Fault
	Reason string
}

// Error returns the reason.
func (e *Error) Error() string { return e.Reason }

func fault(f Fault, format string, args ...any) error {
	return &Error{Fault: f, Reason: fmt.Sprintf(format, args...)}
}

// ErrRowTooLarge is returned when a single row does not fit in a chunk.
var ErrRowTooLarge = errors.New("a row larger than a chunk may be")

var errBigEndian = errors.New("stream: this processor is big-endian, which is not supported")

func checkProcessor() error {
	if endian.IsBigEndian {
		return errBigEndian
	}
	return nil
}
