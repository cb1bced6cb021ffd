package fragment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// overflow keeps what an output does not hold in memory, in a log of its own. The log is there from the first record on, and
// goes when a fragment begins whose recovery point refers to none. Names of records are never used twice, also not by
// another log in the same place: they count on from the time at which the log was opened, in microseconds.
type overflow struct {
	// Fixed.
	dir    string
	schema *tuple.Schema
	room   func() error // nil has always room
	now    func() time.Time

	mu   sync.Mutex // over log, while it is opened and closed
	log  *seglog.Log
	next uint64 // the name of the next record; owned by Put
	shut bool
}

var _ flow.Overflow = (*overflow)(nil)

// Sizes of the log's files, and of a record, in bytes.
const (
	overflowSegment = 16 << 20
	overflowRecord  = 16 << 20
)

func newOverflow(cfg *Config, dir string, schema *tuple.Schema) *overflow {
	return &overflow{dir: dir, schema: schema, room: cfg.Room, now: cfg.Clock.Now}
}

// open opens or makes the log.
func (o *overflow) open() (*seglog.Log, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.shut {
		return nil, flow.ErrClosed
	}
	if o.log != nil {
		return o.log, nil
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return nil, err
	}
	log, _, err := seglog.Open(o.dir, seglog.Options{SegmentBytes: overflowSegment, PayloadBytes: seglog.MaxPayloadBytes})
	if err != nil {
		return nil, err
	}
	o.log, o.next = log, max(log.Durable().Key+1, uint64(max(1, o.now().UnixMicro())))
	return log, nil
}

// existing returns the log if it is open.
func (o *overflow) existing() *seglog.Log {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.log
}

// Resume goes on with what a recovery point refers to: the records from first to last. It returns the oldest of them that is
// there, 0 if none is.
func (o *overflow) Resume(first, last uint64) (oldest uint64, err error) {
	if _, err := os.Stat(o.dir); errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	log, err := o.open()
	if err != nil {
		return 0, err
	}
	durable, from := log.Durable(), log.Oldest()
	if durable.Key < first {
		return 0, nil // it is another log, or all of it is lost
	}
	o.next = max(o.next, last+1) // where the end of the log is lost its names are not used again
	if from.Generation == durable.Generation {
		first = max(first, from.Key)
	}
	return first, nil
}

// Put stores the first of some frames.
func (o *overflow) Put(frames []*tuple.Frame) (n int, record uint64, bytes int64, err error) {
	if o.room != nil {
		if err := o.room(); err != nil {
			return 0, 0, 0, err
		}
	}
	log, err := o.open()
	if err != nil {
		return 0, 0, 0, err
	}
	var e tuple.Encoder
	rows := false
	for n < len(frames) && (!rows || len(e.B) < overflowRecord) {
		encodeStored(&e, frames[n])
		rows = rows || frames[n].Kind == tuple.Insertion
		n++
	}
	record = o.next
	if _, err := log.AppendSync(context.Background(), seglog.Entry{Key: record, Payload: e.B}); err != nil {
		return 0, 0, 0, err
	}
	o.next++
	return n, record, int64(len(e.B)), nil
}

// Get reads a record.
func (o *overflow) Get(record uint64) ([]*tuple.Frame, error) {
	log := o.existing()
	if log == nil {
		return nil, flow.ErrLost
	}
	r, err := log.Reader(seglog.Position{Generation: log.Identity().Generation, Key: record})
	if err != nil {
		return nil, lost(err)
	}
	defer r.Close()
	rec, ok, err := r.TryNext()
	for errors.As(err, new(*seglog.Damage)) {
		rec, ok, err = r.TryNext() // what is damaged may be one before it, which lies in the same piece
	}
	if err != nil {
		return nil, lost(err)
	}
	if !ok || rec.Key != record {
		return nil, flow.ErrLost
	}
	frames, err := decodeStored(rec.Payload, o.schema)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", flow.ErrLost, err)
	}
	return frames, nil
}

// lost says of an error of the log whether it will be the same for ever.
func lost(err error) error {
	switch {
	case errors.As(err, new(*seglog.TruncatedError)):
		return fmt.Errorf("%w: %w", flow.ErrLost, err)
	case errors.Is(err, seglog.ErrClosed):
		return flow.ErrClosed
	}
	return err
}

// Free lets go of records.
func (o *overflow) Free(below uint64) error {
	log := o.existing()
	if log == nil {
		return nil
	}
	if below == 0 {
		if err := log.Rotate(context.Background()); err != nil {
			return err
		}
		below = log.Durable().Key + 1
	}
	_, err := log.TruncateBefore(seglog.Position{Generation: log.Identity().Generation, Key: below})
	return err
}

// Close closes the log.
func (o *overflow) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	if o.log == nil {
		return nil
	}
	return o.log.Close()
}

// Clear removes the log of a fragment that refers to nothing in it.
func (o *overflow) Clear() error { return os.RemoveAll(o.dir) }
