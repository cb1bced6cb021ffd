package source

import (
	"context"
	"errors"
	"fmt"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// cursor serves one subscriber: from the log until it has caught up with memory, then from memory; back to the log when
// it falls behind.
type cursor struct {
	p   *Proxy
	pos tuple.Position // of what has been delivered
	// in memory
	live bool
	next uint64
	// from the log
	reader  *seglog.Reader
	pending []*tuple.Frame
	// damaged is what the reader has just skipped, until the rows behind it come.
	damaged *seglog.Damage
}

var _ flow.Cursor = (*cursor)(nil)

// Open returns a cursor behind the subscriber's position.
func (p *Proxy) Open(s flow.Subscriber) (flow.Cursor, error) {
	first := p.first()
	head := p.tail.position()
	if s.From.Generation == 0 {
		s.From.Generation = head.Generation
	}
	if s.From.Generation != head.Generation || s.From.ID < first.ID {
		first.Time = p.lostUntil(first)
		return nil, &dcaa.TruncatedError{Asked: s.From, First: first}
	}
	if s.Counted {
		if err := p.acks.count(p.cfg.Name, p.cfg.Own, s); err != nil {
			return nil, err
		}
	}
	return &cursor{p: p, pos: s.From}, nil
}

// first returns the oldest position from which the stream can be continued.
func (p *Proxy) first() tuple.Position {
	oldest := p.log.Oldest()
	pos := tuple.Position{Generation: p.tail.position().Generation, Time: tuple.MinTime}
	if oldest.Generation == pos.Generation && oldest.Key > 0 {
		pos.ID = oldest.Key - 1
	}
	return pos
}

// lostUntil returns the end of the stretch of stime in which the rows before first lie: the largest stime up to the oldest
// commit that is held behind it, which may be a little beyond. A new generation begins with the largest stime that the log
// knew: of what a torn log has lost besides nobody knows the stimes.
func (p *Proxy) lostUntil(first tuple.Position) tuple.Time {
	high := p.Status().High
	r, err := p.readerFrom(first)
	if err != nil {
		return high.Add(1)
	}
	defer r.Close()
	if rec, ok, err := r.TryNext(); err == nil && ok && rec.Generation == first.Generation {
		high = rec.Time
	}
	return high.Add(1)
}

// Next returns the next frame.
func (c *cursor) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		f, err := c.step(ctx)
		if err != nil || f == nil {
			if err != nil {
				return nil, err
			}
			continue
		}
		if !c.news(f) {
			continue
		}
		return c.p.ages.stamp(f, c.p.cfg.Clock.Now()), nil
	}
}

// news notes a frame as delivered; false for one that says nothing new.
func (c *cursor) news(f *tuple.Frame) bool {
	switch f.Kind {
	case tuple.Insertion:
		if f.LastID <= c.pos.ID {
			return false
		}
		c.pos.ID, c.pos.Generation = f.LastID, f.Generation
		return true
	case tuple.Gap:
		c.pos.ID = f.FirstID
		return true
	}
	if f.Time <= c.pos.Time {
		return false
	}
	c.pos.Time = f.Time
	return true
}

// step returns a frame, or nil after a change between memory and log.
func (c *cursor) step(ctx context.Context) (*tuple.Frame, error) {
	if len(c.pending) > 0 {
		f := c.pending[0]
		c.pending = c.pending[1:]
		return f, nil
	}
	if !c.live {
		if next, ok := c.p.tail.seek(c.pos); ok {
			c.closeReader()
			c.live, c.next = true, next
		}
	}
	if c.live {
		f, ok, err := c.p.tail.next(ctx, c.next)
		if err != nil {
			return nil, err
		}
		if !ok {
			c.live = false // fell behind
			return nil, nil
		}
		c.next++
		return f, nil
	}
	return nil, c.readLog(ctx)
}

// readLog reads one record into pending.
func (c *cursor) readLog(ctx context.Context) error {
	if c.reader == nil {
		if err := c.openReader(); err != nil {
			return err
		}
	}
	rec, err := c.reader.Next(ctx)
	var damage *seglog.Damage
	if errors.As(err, &damage) {
		c.damaged = damage
		return nil
	}
	if err != nil {
		return fmt.Errorf("source %s: %w", c.p.cfg.Name, err)
	}
	r, err := decodeRecord(rec.Payload, c.p.cfg.Schema, withRows)
	if err != nil {
		return fmt.Errorf("source %s: record %d: %w", c.p.cfg.Name, rec.Seq, err)
	}
	c.pending = frames(r, rec.Generation)
	if c.damaged != nil && r.batch != nil && r.firstID > c.pos.ID+1 {
		c.pending = append([]*tuple.Frame{c.gap(r, rec.Generation)}, c.pending...)
		c.damaged = nil
	}
	return nil
}

func (c *cursor) openReader() error {
	r, err := c.p.readerFrom(c.pos)
	if err != nil {
		return fmt.Errorf("source %s: %w", c.p.cfg.Name, err)
	}
	c.reader = r
	return nil
}

// readerFrom returns a reader that begins at the records that carry the position's id: boundaries that follow it have the
// same key. Where those are gone, later boundaries say as much.
func (p *Proxy) readerFrom(pos tuple.Position) (*seglog.Reader, error) {
	at := seglog.Position{Generation: pos.Generation, Key: pos.ID}
	r, err := p.log.Reader(at)
	if errors.As(err, new(*seglog.TruncatedError)) {
		at.Key++
		r, err = p.log.Reader(at)
	}
	return r, err
}

// gap names the rows that damage to the log has taken: those before the first of r, whose stimes may reach as far as its.
func (c *cursor) gap(r *record, generation uint64) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Gap, Generation: generation, FirstID: r.firstID - 1, Time: c.pos.Time, To: max(c.pos.Time, r.state.High.Add(1)), Reason: c.damaged.Error()}
}

func (c *cursor) closeReader() {
	if c.reader != nil {
		_ = c.reader.Close() // it only read
		c.reader = nil
	}
}

// Close frees the cursor.
func (c *cursor) Close() { c.closeReader() }

// frames returns what a commit sends: its rows, then its boundary.
func frames(r *record, generation uint64) []*tuple.Frame {
	out := make([]*tuple.Frame, 0, 2)
	if r.batch != nil {
		n := uint64(r.batch.Rows())
		out = append(out, &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: r.firstID, LastID: r.firstID + n - 1, Batch: r.batch})
	}
	if r.state.Boundary != tuple.MinTime {
		out = append(out, &tuple.Frame{Kind: tuple.Boundary, Generation: generation, Time: r.state.Boundary})
	}
	return out
}
