package format

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// Reader reads the records of one input.
type Reader interface {
	// Read appends records to rows until rows is full, or the input has no complete record left: then it returns
	// io.EOF. With last, what the input ends with counts as complete; without, Read can be called again when the input
	// has grown. *InputError: the input is cut or damaged here and cannot be read further; the rows so far stand. Any
	// other error is the input's own, or a header that does not fit the stream.
	Read(rows *Rows, last bool) error

	// Save appends the place after the last record in rows, with what a new reader must know to go on there.
	Save(e *tuple.Encoder)

	// Restore puts a new reader at a saved place. It returns how many bytes of the uncompressed input the caller is to
	// pass over before the first Read. Malformed input is recorded in d.
	Restore(d *tuple.Decoder) (skip int64)

	// Notice returns what a person should know about the input, "" if nothing; a column that a later header lacks.
	Notice() string
}

// InputError says that an input ends in the middle or is damaged.
type InputError struct {
	End connect.End // EndTruncated or EndCorrupt
	Err error
	// Offset is the byte of a compressed input near which decompression stopped; -1 for any other cause.
	Offset int64
}

// At prints which input it was, with the byte where that is known.
func (e *InputError) At(name string) string {
	if e.Offset < 0 {
		return name
	}
	return connect.Place{File: name, Offset: e.Offset}.String()
}

// Error says what is wrong with the input.
func (e *InputError) Error() string { return fmt.Sprintf("%s input: %v", e.End, e.Err) }

// Unwrap returns the cause.
func (e *InputError) Unwrap() error { return e.Err }

// HeaderError says that the first header of an input has no such field: the declaration is wrong, or the file.
type HeaderError struct {
	File   string
	Column string
	Field  string
	Hint   string
}

// Error names the file, the field and what it might have been.
func (e *HeaderError) Error() string {
	s := fmt.Sprintf("%s: no field %q for column `%s`", e.File, e.Field, e.Column)
	if e.Hint != "" {
		s += "; " + printable(e.Hint)
	}
	return s
}

// printable keeps what a file holds from steering the terminal, and short: what should be a header may be anything.
func printable(s string) string {
	const most = 300
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// NewReader returns a reader of src, which is not compressed.
func NewReader(s *connect.Stream, o Options, src io.Reader) (Reader, error) {
	switch o.Format {
	case CSV, TSV:
		return newLines(src, &o, newCSV(s, &o)), nil
	case JSONL:
		return newLines(src, &o, newJSONL(s, &o)), nil
	case Zeek:
		return newLines(src, &o, newZeek(s, &o)), nil
	case Arrow:
		return newArrowReader(s, src), nil
	case Parquet:
		return newParquetReader(s, src)
	}
	return nil, fmt.Errorf("format: no format %q", o.Format)
}
