package flow

import (
	"errors"

	"fednode/query/tuple"
)

// Overflow keeps frames of one output outside of memory. Put and Free are called by one goroutine, Get by any.
type Overflow interface {
	// Put makes frames durable, the first n of them that fit into one record, and returns the name of the record and what it
	// takes. Later records have higher names.
	Put(frames []*tuple.Frame) (n int, record uint64, bytes int64, err error)
	// Get returns the frames of a record. The error is ErrLost if they cannot be had any more.
	Get(record uint64) ([]*tuple.Frame, error)
	// Free lets go of all records below one; of all there are if it is 0.
	Free(below uint64) error
}

// ErrLost means that the frames of a record are damaged, or have been freed.
var ErrLost = errors.New("the frames are not there any more")

// Spilled says how an output stands with what it holds outside of memory.
type Spilled struct {
	Bytes int64
	// Limit is how much that may be; 0 if there is nowhere to put anything.
	Limit int64
	// Cause is why nothing more can be put there; nil if it can.
	Cause error
}

// Spilled returns how the output stands with what it holds outside of memory.
func (o *Output) Spilled() Spilled {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Spilled{Bytes: o.buffer.AwayBytes(), Limit: o.spillLimit, Cause: o.spillErr}
}

// Overflowing returns a channel that holds a token once Spill has something to do.
func (o *Output) Overflowing() <-chan struct{} { return o.overflowing }

// crowded reports whether frames should leave the memory: more than half of what may be there is, and somebody is to have
// them. mu is held.
func (o *Output) crowded() bool {
	return o.overflow != nil && !o.closed && 2*o.buffer.Bytes() >= o.limit && o.buffer.AwayBytes() < o.spillLimit && len(o.buffer.Subscribers()) > 0
}

// exhausted reports whether the output is full, and nothing will leave the memory but what is acknowledged. mu is held.
func (o *Output) exhausted() bool {
	return o.buffer.Bytes() >= o.limit && (o.overflow == nil || o.spillErr != nil || o.buffer.AwayBytes() >= o.spillLimit)
}

// strained reports whether half of all that the output may hold is held. mu is held.
func (o *Output) strained() bool {
	return o.exhausted() || 2*(o.buffer.Bytes()+o.buffer.AwayBytes()) >= o.limit+o.spillLimit
}

// note wakes who spills, if there is something to do. mu is held.
func (o *Output) note() {
	if o.overflow != nil && (o.crowded() || o.buffer.FirstAway() != o.kept) {
		select {
		case o.overflowing <- struct{}{}:
		default:
		}
	}
}

// recordBytes is about how much one record holds, in memory: a part of the limit, so that an output of any size spills.
func (o *Output) recordBytes() int64 { return min(1<<20, max(1<<14, o.limit/8)) }

// Spill puts the oldest frames outside of memory, about a record, if more than half of what may be there is held, and frees
// the records that are not needed any more; more says that there is more to do at once. It waits for the disk, and is called
// by one goroutine. After an error it may be called again.
func (o *Output) Spill() (more bool, err error) {
	if o.overflow == nil {
		return false, nil
	}
	if err := o.free(); err != nil {
		return false, err
	}
	o.mu.Lock()
	crowded := o.crowded()
	s, ok := o.buffer.Oldest(o.recordBytes())
	o.mu.Unlock()
	if !crowded || !ok {
		return false, nil
	}
	n, record, bytes, err := o.overflow.Put(s.Frames)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spillErr = err; err != nil {
		o.wake()
		return false, err
	}
	if !o.buffer.Evict(s, n, record, bytes) && o.kept == 0 {
		o.kept = record // all of it was acknowledged meanwhile: it is freed at once
	}
	o.wake()
	return o.crowded(), nil
}

// free lets go of the records that nobody needs any more.
func (o *Output) free() error {
	o.mu.Lock()
	first := o.buffer.FirstAway()
	old := o.kept
	o.mu.Unlock()
	if first == old {
		return nil
	}
	if err := o.overflow.Free(first); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = first
	return nil
}

// lose gives up a record whose frames cannot be had: who needs them is told that they are gone, and nothing else is.
func (o *Output) lose(record uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.buffer.Lose(record)
	o.wake()
}

// giveUp drops the oldest frames, an eighth of what the output may hold, but for those that are to be kept in any case. mu is
// held.
func (o *Output) giveUp() {
	keep := tuple.MinTime
	if o.head.Time != tuple.MinTime && o.head.Time != tuple.MaxTime {
		keep = o.head.Time.Add(-o.keep)
	}
	if o.buffer.GiveUp((o.limit+o.spillLimit)/8, keep) && o.givenUp != nil {
		o.givenUp(o.buffer.Truncated())
	}
}
