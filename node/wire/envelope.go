package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"fednode/query/tuple"
)

// Version is the version of the protocol that this package speaks.
const Version uint8 = 2

// Limits of frames, in bytes of payload.
const (
	// MaxFrame bounds every frame.
	MaxFrame = 8 << 20
	// MaxControl bounds the frames of the control stream.
	MaxControl = 1 << 20
	// CutBytes is where a batch is cut: nothing behind a data frame waits for more than this.
	CutBytes = 256 << 10
)

// headerSize is the length of the header: u32 length of the payload, u8 version, u8 kind, u16 flags (none exist yet), u32
// CRC-32C of the payload. All little-endian.
const headerSize = 12

type header struct {
	length  int
	version uint8
	kind    uint8
	sum     uint32
}

// checksums is the CRC-32C table; computing it is cheap, since processors have an instruction for it.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// seal fills in the header of a frame whose payload is in place after headerSize free bytes.
func seal(frame []byte, version, kind uint8) {
	payload := frame[headerSize:]
	binary.LittleEndian.PutUint32(frame, uint32(len(payload)))
	frame[4], frame[5], frame[6], frame[7] = version, kind, 0, 0
	binary.LittleEndian.PutUint32(frame[8:], checksum(payload))
}

// envelope reads frames one after the other.
type envelope struct {
	r       io.Reader
	version uint8
	limit   func(kind uint8) (int, error) // the largest payload of a kind, or why there is no such kind here
	head    [headerSize]byte
}

// next reads a header and checks all of it that can be checked alone. At the end of the stream it returns io.EOF.
func (e *envelope) next() (h header, err error) {
	if _, err := io.ReadFull(e.r, e.head[:]); err != nil {
		if err == io.EOF {
			return h, io.EOF
		}
		return h, ended(err, "inside a header")
	}
	h = header{length: int(binary.LittleEndian.Uint32(e.head[:])), version: e.head[4], kind: e.head[5],
		sum: binary.LittleEndian.Uint32(e.head[8:])}
	if h.version != e.version {
		return h, broken(BadVersion, "a frame of version %d, version %d was agreed on", h.version, e.version)
	}
	if flags := binary.LittleEndian.Uint16(e.head[6:]); flags != 0 {
		return h, broken(BadVersion, "flags %#04x, version %d has none", flags, e.version)
	}
	limit, err := e.limit(h.kind)
	if err != nil {
		return h, err
	}
	if h.length > limit {
		return h, broken(BadLength, "a payload of %d bytes, a frame of kind %d has at most %d", h.length, h.kind, limit)
	}
	return h, nil
}

// payload reads the payload into buf after headerSize bytes, which keep their place so that what is aligned in the frame
// is aligned in memory. Memory grows as bytes come, since the length is only a claim.
func (e *envelope) payload(h header, buf []byte) ([]byte, error) {
	const step = 512 << 10
	need := headerSize + h.length
	if cap(buf) < min(need, step) {
		buf = make([]byte, headerSize, min(need, step))
	}
	buf = buf[:headerSize]
	for len(buf) < need {
		if cap(buf) == len(buf) {
			grown := make([]byte, len(buf), min(need, 2*cap(buf)))
			copy(grown, buf)
			buf = grown
		}
		from := len(buf)
		buf = buf[:min(need, cap(buf))]
		if _, err := io.ReadFull(e.r, buf[from:]); err != nil {
			return nil, ended(err, fmt.Sprintf("inside a payload of %d bytes", h.length))
		}
	}
	if got := checksum(buf[headerSize:]); got != h.sum {
		return nil, broken(BadChecksum, "checksum %08x, the header says %08x", got, h.sum)
	}
	return buf, nil
}

// ended tells a stream that stops within a frame from other failures of the connection.
func ended(err error, where string) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &ProtocolError{Code: Truncated, Reason: "the stream ended " + where, Err: io.ErrUnexpectedEOF}
	}
	return fmt.Errorf("wire: read: %w", err)
}

// dataLimit bounds the kinds of the data stream.
func dataLimit(kind uint8) (int, error) {
	switch k := tuple.FrameKind(kind); {
	case k == tuple.Insertion || k == tuple.Tentative:
		return MaxFrame, nil
	case k >= tuple.Boundary && k <= tuple.Gap:
		return maxPlainFrame, nil
	}
	return 0, broken(BadKind, "a frame of kind %d on a data stream", kind)
}
