package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"fednode/query/tuple/arrowio/internal/flat"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// maxMetadata bounds the metadata of one message and the footer of a file.
const maxMetadata = 16 << 20

var errNotArrow = errors.New("not an Arrow stream or file")

// schemaMessage reads the first message of a stream, checks the schema in it and returns the message's bytes.
func schemaMessage(r io.Reader) ([]byte, error) {
	head := make([]byte, 8)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, errNotArrow
	}
	if binary.LittleEndian.Uint32(head) != 0xFFFFFFFF {
		return nil, errNotArrow
	}
	n := binary.LittleEndian.Uint32(head[4:])
	if n < 8 || n > maxMetadata {
		return nil, errNotArrow
	}
	// Grown as the bytes come: the length is only a claim.
	meta, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil || len(meta) != int(n) {
		return nil, fmt.Errorf("the schema is cut off after %d of %d bytes", len(meta), n)
	}
	f := &flat.Buffer{B: meta}
	return append(head, meta...), flat.CheckSchema(f, f.Table(f.Root(), flat.SlotMessageHeader))
}

// checkFooter checks the schema in a file's footer.
func checkFooter(r ipc.ReadAtSeeker) error {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	tail := int64(4 + len(ipc.Magic))
	end := make([]byte, tail)
	if _, err := r.ReadAt(end, size-tail); err != nil && err != io.EOF || string(end[4:]) != string(ipc.Magic) {
		return errors.New("the file has no end: it was cut off, or is still being written")
	}
	n := int64(binary.LittleEndian.Uint32(end))
	if n > maxMetadata || n > size-tail {
		return fmt.Errorf("a footer of %d bytes", n)
	}
	footer := make([]byte, n)
	if _, err := r.ReadAt(footer, size-tail-n); err != nil && err != io.EOF {
		return err
	}
	f := &flat.Buffer{B: footer}
	return flat.CheckSchema(f, f.Table(f.Root(), flat.SlotFooterSchema))
}
