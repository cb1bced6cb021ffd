package flow

import (
	"context"
	"errors"

	"fednode/query/tuple"
)

// outputCursor reads an Output: stable frames from seq on, and, if it takes them, tentative ones from runSeq on, in the
// order in which both were emitted.
type outputCursor struct {
	o         *Output
	seq       uint64
	runSeq    uint64
	counted   bool
	tentative bool
	// at is what has been delivered.
	at tuple.Position
	// packed are frames from outside of memory, all before seq.
	packed []*tuple.Frame
}

// Next returns the next frame the subscriber needs. It fails with a *dcaa.TruncatedError if a subscriber that is not
// counted was so slow that what it needs next is neither held nor spare.
func (c *outputCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		if f := c.unpacked(); f != nil {
			return f, nil
		}
		c.o.mu.Lock()
		f, at, ok := c.o.buffer.Frame(c.seq)
		first := at
		var record uint64
		if ok && f.Kind == tuple.Insertion && f.Batch == nil {
			record, first = c.o.buffer.AwayAt(at)
		}
		if c.tentative {
			if run, runAt, there := c.o.buffer.RunFrame(c.runSeq, c.seq); there && (!ok || runAt < first) {
				c.runSeq = runAt + 1
				run = c.o.aged(run)
				c.o.mu.Unlock()
				return run, nil
			}
		}
		if ok {
			f = c.o.aged(f)
		}
		gone, dropped, closed, changed := c.gone(), c.o.buffer.Truncated(), c.o.closed, c.o.changed
		c.o.mu.Unlock()
		switch {
		case gone != nil:
			return nil, gone
		case record != 0 && closed:
			return nil, ErrClosed
		case record != 0:
			if err := c.fetch(record, at); err != nil {
				return nil, err
			}
			continue
		case ok:
			c.seq = at + 1
			if !c.needs(f) {
				continue
			}
			c.at = c.at.Past(f)
			return f, nil
		case dropped.Time > c.at.Time:
			// All rows before it are there: without it whoever comes late would never learn that the stream has ended.
			f := &tuple.Frame{Kind: tuple.Boundary, Generation: dropped.Generation, Time: dropped.Time}
			c.at = c.at.Past(f)
			return f, nil
		case closed:
			return nil, ErrClosed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// needs reports whether the subscriber lacks any of a frame.
func (c *outputCursor) needs(f *tuple.Frame) bool {
	return f.Kind != tuple.Insertion || !c.at.Holds(f)
}

// fetch gets the frames that stand outside of memory, up to the number at. What cannot be had any more is given up for all.
func (c *outputCursor) fetch(record, at uint64) error {
	frames, err := c.o.overflow.Get(record)
	if errors.Is(err, ErrLost) {
		c.o.lose(record)
		return nil
	}
	if err != nil {
		return err
	}
	c.packed, c.seq = frames, at+1
	return nil
}

// unpacked returns the next frame of those that were fetched; nil if there is none.
func (c *outputCursor) unpacked() *tuple.Frame {
	for len(c.packed) > 0 {
		f := c.packed[0]
		c.packed = c.packed[1:]
		if c.needs(f) && (f.Kind != tuple.Boundary || f.Time > c.at.Time) {
			c.at = c.at.Past(f)
			return c.now(f)
		}
	}
	return nil
}

// now returns a frame as it is to be given now.
func (c *outputCursor) now(f *tuple.Frame) *tuple.Frame {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	return c.o.aged(f)
}

// gone fails if rows that the cursor has not delivered have been dropped. It asks as Open does: a place without a generation
// is the beginning of the stream, and lies before a generation that has been dropped to its end. mu is held.
func (c *outputCursor) gone() error {
	err := c.o.buffer.SpareReaches(c.at)
	if err != nil && c.counted {
		return c.o.buffer.Reaches(c.at)
	}
	return err
}

// Close frees the cursor.
func (c *outputCursor) Close() {
	c.o.mu.Lock()
	defer c.o.mu.Unlock()
	if c.tentative {
		c.o.relied--
		c.tentative = false
	}
}
