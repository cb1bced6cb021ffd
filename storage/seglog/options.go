package seglog

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// Limits of the options.
const (
	MinSegmentBytes = 64 << 10
	MaxSegmentBytes = 1 << 30
	MaxPayloadBytes = 64 << 20
)

// Options of a log. The zero value is complete.
type Options struct {
	// SegmentBytes is the size at which a segment is closed, and which is reserved when it is begun. Default 64 MiB,
	// range MinSegmentBytes to MaxSegmentBytes.
	SegmentBytes int64
	// PayloadBytes is the largest payload. Default 16 MiB, at most MaxPayloadBytes.
	PayloadBytes int
	// PendingBytes is how much may wait in memory for the next write; then Append waits. Default 8 MiB.
	PendingBytes int
	// OpenFile opens files; nil is the operating system.
	OpenFile disk.OpenFunc
}

func (o Options) complete() (Options, error) {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.PayloadBytes == 0 {
		o.PayloadBytes = 16 << 20
	}
	if o.PendingBytes == 0 {
		o.PendingBytes = 8 << 20
	}
	if o.OpenFile == nil {
		o.OpenFile = disk.Open
	}
	if o.SegmentBytes < MinSegmentBytes || o.SegmentBytes > MaxSegmentBytes {
		return o, fmt.Errorf("seglog: segment bytes %d; want %d to %d", o.SegmentBytes, MinSegmentBytes, MaxSegmentBytes)
	}
	if o.PayloadBytes < 1 || o.PayloadBytes > MaxPayloadBytes {
		return o, fmt.Errorf("seglog: payload bytes %d; want 1 to %d", o.PayloadBytes, MaxPayloadBytes)
	}
	if o.PendingBytes < 1 {
		return o, fmt.Errorf("seglog: pending bytes %d; want at least 1", o.PendingBytes)
	}
	return o, nil
}

// Entry is what is appended. The log copies the payload.
type Entry struct {
	// Key is the caller's order within a generation, for example the last tuple id that the entry covers. It never falls;
	// several entries may have one key.
	Key uint64
	// Time is a stream time that retention goes by; it need not rise.
	Time    tuple.Time
	Payload []byte
}

// Record is an entry read back.
type Record struct {
	// Seq counts the records of the log from 1, over all generations.
	Seq        uint64
	Generation uint64
	Key        uint64
	Time       tuple.Time
	Payload    []byte // borrowed: valid until the reader's next call
}

// Position is a place in the log: keys are ordered within a generation, generations before keys.
type Position struct {
	Generation uint64
	Key        uint64
}

// Before reports whether p comes before q.
func (p Position) Before(q Position) bool {
	if p.Generation != q.Generation {
		return p.Generation < q.Generation
	}
	return p.Key < q.Key
}

// String renders the position as generation:key.
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Generation, p.Key) }
