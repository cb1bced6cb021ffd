package push

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"

	"fednode/node/connect"
	"fednode/node/connect/format"
)

// ErrContentType is wrapped by the error about a body whose content type is not known.
var ErrContentType = errors.New("the content type is not one that can be read")

// ErrTooLarge is wrapped by the error about a body above its limit.
var ErrTooLarge = errors.New("the body is too large")

// FormatOf returns the format options for a Content-Type header. JSON lines have no registered name, so all names in
// use are taken.
func FormatOf(contentType string) (format.Options, error) {
	kind, _, err := mime.ParseMediaType(contentType)
	if err == nil {
		switch kind {
		case "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-lines", "application/json":
			return format.DefaultOptions(format.JSONL), nil
		case "text/csv":
			return format.DefaultOptions(format.CSV), nil
		case "text/tab-separated-values":
			return format.DefaultOptions(format.TSV), nil
		case "application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file":
			return format.DefaultOptions(format.Arrow), nil
		}
	}
	return format.Options{}, fmt.Errorf("%w: %q; expected application/x-ndjson, text/csv, text/tab-separated-values or application/vnd.apache.arrow.stream", ErrContentType, contentType)
}

// DefaultMaxBody bounds a body by default, in uncompressed bytes.
const DefaultMaxBody = 16 << 20

// Decode reads a body, which may be compressed with gzip or zstd, into blocks. name stands for the file in places of
// rejects. A body that is cut or damaged is an error and gives no block: whoever sent it can send it again. Records that
// cannot be read are rejects, as everywhere.
func Decode(ctx context.Context, s *connect.Stream, o format.Options, name string, body io.Reader, maxBody int64) ([]*connect.Block, error) {
	src, _, err := format.Decompress(body)
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	defer src.Close()
	in, err := format.NewReader(s, o, &limited{src, maxBody})
	if err != nil {
		return nil, fmt.Errorf("push: %w", err)
	}
	rows := format.NewRows(s, connect.DefaultBlockRows, &o)
	rows.SetFile(name)
	var blocks []*connect.Block
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err := in.Read(rows, true)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("push: %w", err)
		}
		// Blank lines fill a block too, and leave nothing in it.
		if kept := rows.Len() > 0 || rows.Rejected() > 0; kept || rows.Full() {
			if b := rows.Take(); kept {
				blocks = append(blocks, b)
			}
		}
		if err == io.EOF {
			return blocks, nil
		}
	}
}

// limited fails, instead of ending, when more than left bytes are read.
type limited struct {
	src  io.Reader
	left int64
}

// Read reads from the source.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		// One byte tells a body that is just as long as it may be from one that is longer.
		if n, err := l.src.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, fmt.Errorf("%w; send it in parts", ErrTooLarge)
	}
	n, err := l.src.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
