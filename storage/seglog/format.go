package seglog

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// The file format, version 1. Layout and reasons: docs/formats/segment.md.
const (
	formatVersion = 1
	segmentMagic  = "FNSEGLOG"
	headerBytes   = 128
	recordHeader  = 48
	align         = 8
	segmentSuffix = ".seg"
	unfinished    = ".new" // a segment whose header is not durable yet
	setAside      = ".bad"
)

// header opens a segment. What it says about the segment before makes that one readable without a scan, and says where
// it ends whatever bytes follow there.
type header struct {
	Log        [16]byte
	Generation uint64
	FirstSeq   uint64 // of the first record here; also in the file's name
	StartKey   uint64 // of the record before in the same generation, 0 if there is none
	Prev       tail   // how the segment before ended; zero for the first
}

// tail is how a segment ended.
type tail struct {
	FirstSeq uint64 // names the segment; 0: there was none
	End      int64  // bytes that belong to the log
	Key      uint64 // of its last record
	MaxTime  tuple.Time
}

func (h *header) encode() []byte {
	b := make([]byte, headerBytes)
	le := binary.LittleEndian
	copy(b, segmentMagic)
	le.PutUint16(b[8:], formatVersion)
	le.PutUint16(b[10:], headerBytes)
	copy(b[16:], h.Log[:])
	le.PutUint64(b[32:], h.Generation)
	le.PutUint64(b[40:], h.FirstSeq)
	le.PutUint64(b[48:], h.StartKey)
	le.PutUint64(b[56:], h.Prev.FirstSeq)
	le.PutUint64(b[64:], uint64(h.Prev.End))
	le.PutUint64(b[72:], h.Prev.Key)
	le.PutUint64(b[80:], uint64(h.Prev.MaxTime))
	le.PutUint32(b[headerBytes-4:], crc32.Checksum(b[:headerBytes-4], disk.Castagnoli()))
	return b
}

// versionError says that a file was written by a newer build.
type versionError struct{ version uint16 }

func (e *versionError) Error() string {
	return fmt.Sprintf("format version %d, this build reads up to %d: run the newer fednode that wrote it", e.version, formatVersion)
}

func decodeHeader(b []byte) (header, error) {
	var h header
	le := binary.LittleEndian
	if len(b) < headerBytes || string(b[:8]) != segmentMagic {
		return h, fmt.Errorf("no segment header")
	}
	if crc32.Checksum(b[:headerBytes-4], disk.Castagnoli()) != le.Uint32(b[headerBytes-4:]) {
		return h, fmt.Errorf("header checksum does not match")
	}
	if v := le.Uint16(b[8:]); v != formatVersion {
		return h, &versionError{v}
	}
	copy(h.Log[:], b[16:])
	h.Generation = le.Uint64(b[32:])
	h.FirstSeq = le.Uint64(b[40:])
	h.StartKey = le.Uint64(b[48:])
	h.Prev = tail{FirstSeq: le.Uint64(b[56:]), End: int64(le.Uint64(b[64:])), Key: le.Uint64(b[72:]),
		MaxTime: tuple.Time(le.Uint64(b[80:]))}
	return h, nil
}

// frame is the fixed part of a record. A mark is a record without payload that only says how far the log is durable; it
// repeats the seq of the last record.
type frame struct {
	size    int // payload bytes
	mark    bool
	seq     uint64
	key     uint64
	time    tuple.Time
	durable uint64 // all records up to this seq were durable when this one was written
}

const markBit = 1 << 31

// bytes is the length of the whole record in the file.
func (f *frame) bytes() int64 { return padded(f.size) }

// before is the seq of the record that this one follows.
func (f *frame) before() uint64 {
	if f.mark {
		return f.seq
	}
	return f.seq - 1
}

func padded(payload int) int64 { return (recordHeader + int64(payload) + align - 1) &^ (align - 1) }

// seed starts every record's checksums, so that bytes of another log, or bytes that somebody chose, do not pass for
// records of this one.
func seed(log [16]byte) uint32 { return crc32.Checksum(log[:], disk.Castagnoli()) }

func appendRecord(b []byte, seed uint32, f frame, payload []byte) []byte {
	at := len(b)
	size := uint32(len(payload))
	if f.mark {
		size |= markBit
	}
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0)
	b = le.AppendUint32(b, size)
	b = le.AppendUint64(b, f.seq)
	b = le.AppendUint64(b, f.key)
	b = le.AppendUint64(b, uint64(f.time))
	b = le.AppendUint64(b, f.durable)
	b = le.AppendUint32(b, crc32.Update(seed, disk.Castagnoli(), payload))
	b = le.AppendUint32(b, 0)
	le.PutUint32(b[at:], crc32.Update(seed, disk.Castagnoli(), b[at+4:]))
	b = append(b, payload...)
	for len(b)%align != at%align {
		b = append(b, 0)
	}
	return b
}

// parseFrame reads the fixed part; b holds at least recordHeader bytes. ok says whether its checksum is right; the
// payload has one of its own, so that a damaged payload costs one record and a search costs a fixed time a place.
func parseFrame(b []byte, seed uint32) (f frame, ok bool) {
	return readFrame(b), crc32.Update(seed, disk.Castagnoli(), b[4:recordHeader]) == binary.LittleEndian.Uint32(b)
}

// readFrame reads the fixed part of a record that was just encoded.
func readFrame(b []byte) frame {
	le := binary.LittleEndian
	size := le.Uint32(b[4:])
	return frame{size: int(size &^ markBit), mark: size&markBit != 0, seq: le.Uint64(b[8:]), key: le.Uint64(b[16:]),
		time: tuple.Time(le.Uint64(b[24:])), durable: le.Uint64(b[32:])}
}

// validPayload checks a whole record whose fixed part is right.
func validPayload(b []byte, seed uint32) bool {
	return crc32.Update(seed, disk.Castagnoli(), b[recordHeader:]) == binary.LittleEndian.Uint32(b[40:])
}

func segmentName(firstSeq uint64) string { return fmt.Sprintf("%020d%s", firstSeq, segmentSuffix) }

// parseName returns the first seq that a segment's file name says.
func parseName(name string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, segmentSuffix)
	if !ok || len(digits) != 20 {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil && seq > 0
}
