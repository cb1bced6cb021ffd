package arrowio

import (
	"errors"
	"fmt"
	"io"

	"fednode/query/tuple/arrowio/internal/flat"

	"github.com/klauspost/compress/zstd"
)

// checkWindows refuses Zstandard buffers whose window would pass the memory limit: the general decoder allocates the
// window that a frame's header asks for, outside its allocator.
func checkWindows(f *flat.Buffer, body []byte, limit int64) error {
	for _, s := range flat.ZstdSpans(f) {
		const prefix = 8 // the uncompressed length
		if s.Length <= prefix {
			continue
		}
		if s.Offset < 0 || s.Length > int64(len(body)) || s.Offset > int64(len(body))-s.Length {
			return fmt.Errorf("a buffer of %d bytes at %d in a body of %d", s.Length, s.Offset, len(body))
		}
		if err := checkWindow(body[s.Offset+prefix:s.Offset+s.Length], limit); err != nil {
			return err
		}
	}
	return nil
}

// checkWindow looks at the first frame of a buffer. Anything that is no frame is left for the decoder to refuse.
func checkWindow(b []byte, limit int64) error {
	var h zstd.Header
	if err := h.Decode(b); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if h.WindowSize > uint64(limit) {
		return fmt.Errorf("%w: a compressed buffer asks for a window of %d bytes, %d are allowed", ErrLimit, h.WindowSize, limit)
	}
	return nil
}
