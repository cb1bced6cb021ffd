package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"fednode/query/tuple/arrowio/internal/flat"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// maxMetadata bounds the metadata of one message.
const maxMetadata = 16 << 20

var (
	errNotArrow = errors.New("not an Arrow stream or file")
	errCutOff   = errors.New("the file is cut off, or still being written")
)

// fileMagic begins a file; what follows is a stream, then an index that is not needed to read from front to back.
const fileMagic = "ARROW1\x00\x00"

// messages reads encapsulated messages for the general decoder, and checks of each what that one takes on trust: it
// recurses and allocates as lengths in the metadata say. Memory grows as bytes come, within the meter.
type messages struct {
	r     io.Reader
	mem   *meter
	file  bool
	begun bool
	head  [8]byte
}

// Retain and Release do nothing: the memory is the garbage collector's.
func (m *messages) Retain() {}

// Release does nothing.
func (m *messages) Release() {}

// Message returns the next message, or io.EOF at the end of the stream.
func (m *messages) Message() (*ipc.Message, error) {
	if err := m.next(); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(m.head[4:])
	switch {
	case binary.LittleEndian.Uint32(m.head[:]) != 0xFFFFFFFF:
		return nil, errNotArrow
	case n == 0:
		return nil, io.EOF
	case n < 8 || n > maxMetadata:
		return nil, fmt.Errorf("message metadata of %d bytes", n)
	}
	meta, err := m.read(int64(n))
	if err != nil {
		return nil, err
	}
	f := &flat.Buffer{B: meta}
	size, err := flat.CheckMessage(f)
	if err != nil {
		return nil, err
	}
	body, err := m.read(size)
	if err != nil {
		return nil, err
	}
	if err := checkWindows(f, body, m.mem.limit); err != nil {
		return nil, err
	}
	return ipc.NewMessage(memory.NewBufferBytes(meta), memory.NewBufferBytes(body)), nil
}

// next reads the eight bytes before a message, at first past the magic of a file.
func (m *messages) next() error {
	_, err := io.ReadFull(m.r, m.head[:])
	if err == nil && !m.begun && string(m.head[:]) == fileMagic {
		m.file = true
		_, err = io.ReadFull(m.r, m.head[:])
	}
	begun := m.begun
	m.begun = true
	switch {
	case err == nil:
		return nil
	case m.file && isEnd(err):
		return errCutOff
	case isEnd(err) && !begun:
		return errNotArrow
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the stream is cut off")
	}
	return err
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// read returns the next n bytes.
func (m *messages) read(n int64) ([]byte, error) {
	const step = 1 << 20
	m.mem.take(int(min(n, 1<<40)))
	buf := make([]byte, 0, min(n, step))
	for int64(len(buf)) < n {
		if len(buf) == cap(buf) {
			grown := make([]byte, len(buf), min(n, 2*int64(cap(buf))))
			copy(grown, buf)
			buf = grown
		}
		from := len(buf)
		buf = buf[:cap(buf)]
		if _, err := io.ReadFull(m.r, buf[from:]); err != nil {
			if m.file && isEnd(err) {
				return nil, errCutOff
			}
			return nil, fmt.Errorf("inside a message of %d bytes: %w", n, noEOF(err))
		}
	}
	return buf, nil
}

// noEOF keeps an end inside a message from passing as the end of the stream.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
