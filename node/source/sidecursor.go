package source

import (
	"context"
	"errors"
	"fmt"
	"sort"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// sideCursor reads a side stream from the log, waiting at its end: there is too little of it to keep any in memory.
type sideCursor struct {
	s       *Side
	pos     tuple.Position // of what has been delivered
	reader  *seglog.Reader
	pending []*tuple.Frame
	damaged *seglog.Damage // what the reader has skipped, until the numbers behind it are known
}

var _ flow.Cursor = (*sideCursor)(nil)

// Next returns the next frame.
func (c *sideCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		if len(c.pending) > 0 {
			f := c.pending[0]
			c.pending = c.pending[1:]
			return f, nil
		}
		if err := c.read(ctx); err != nil {
			return nil, err
		}
	}
}

// read takes one record, and makes pending what it says that is new.
func (c *sideCursor) read(ctx context.Context) error {
	rec, err := c.reader.Next(ctx)
	if damage := (*seglog.Damage)(nil); errors.As(err, &damage) {
		c.damaged = damage
		return nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return c.s.failed(err)
	}
	if rec.Generation != c.pos.Generation {
		return nil // what is kept of an earlier one
	}
	r, err := c.s.decode(rec, stateOnly)
	if err != nil {
		return err
	}
	ids := r.side.ids[c.s.kind]
	if ids.first > c.pos.ID+1 {
		c.lost(r, ids)
	}
	if ids.next() > c.pos.ID+1 {
		if r, err = c.s.decode(rec, withSide); err != nil {
			return err
		}
		c.rows(r, ids)
	}
	if at := sideTime(r); at > c.pos.Time {
		c.pos.Time = at
		c.pending = append(c.pending, &tuple.Frame{Kind: tuple.Boundary, Generation: c.pos.Generation, Time: at})
	}
	return nil
}

// lost names the rows that damage to the log has taken: those before the first of r.
func (c *sideCursor) lost(r *record, ids stretch) {
	reason := "the log no longer holds them"
	if c.damaged != nil {
		reason, c.damaged = c.damaged.Error(), nil
	}
	c.pos.ID = ids.first - 1
	c.pending = append(c.pending, &tuple.Frame{
		Kind: tuple.Gap, Generation: c.pos.Generation, FirstID: c.pos.ID, Time: c.pos.Time, To: max(c.pos.Time, r.side.clock), Reason: reason,
	})
}

// rows delivers what a commit has set aside, as far as it is new.
func (c *sideCursor) rows(r *record, ids stretch) {
	f := &tuple.Frame{Kind: tuple.Insertion, Generation: c.pos.Generation, FirstID: ids.first, LastID: ids.next() - 1, Batch: c.s.kind.render(&r.side)}
	f = f.After(c.pos.ID)
	c.pos.ID = f.LastID
	c.pending = append(c.pending, f)
}

// Close frees the cursor.
func (c *sideCursor) Close() {
	_ = c.reader.Close() // it only read
}

// render returns what a commit has set aside, of one kind, as rows of the kind's schema.
func (k SideKind) render(s *side) *tuple.Batch {
	b := tuple.NewBatchBuilder(k.Schema())
	if k == Late {
		for _, v := range s.verdicts {
			AppendLate(b, v, s.rows, s.clock)
		}
		return b.Take()
	}
	for i := range s.rejects {
		connect.AppendReject(b, &s.rejects[i], s.clock)
	}
	return b.Take()
}

// sideTime is the boundary of the side streams after a commit: what is set aside later has a later clock, or none comes.
func sideTime(r *record) tuple.Time {
	if r.state.Boundary == tuple.MaxTime {
		return tuple.MaxTime
	}
	return r.side.clock
}

func (s *Side) decode(rec seglog.Record, want part) (*record, error) {
	r, err := decodeRecord(rec.Payload, s.p.cfg.Schema, want)
	if err != nil {
		return nil, s.failed(fmt.Errorf("record %d: %w", rec.Seq, err))
	}
	return r, nil
}

// first returns the oldest position from which the stream can be continued.
func (s *Side) first(generation uint64) (tuple.Position, error) {
	pos := tuple.Position{Generation: generation, Time: tuple.MinTime}
	r, err := s.oldest(generation)
	if err != nil {
		return pos, err
	}
	defer r.Close()
	ids, ok, err := s.peek(r, generation)
	if ok {
		pos.ID = ids.first - 1
	}
	return pos, err
}

// oldest returns a reader that meets every record of a generation that is kept. Where records of an earlier one are kept
// too, it begins behind them.
func (s *Side) oldest(generation uint64) (*seglog.Reader, error) {
	if s.p.log.Oldest().Generation < generation {
		return s.p.log.Reader(seglog.Position{Generation: generation})
	}
	return s.p.log.First()
}

// peek returns the numbers of the next readable record of a generation; ok is false if there is none yet.
func (s *Side) peek(r *seglog.Reader, generation uint64) (ids stretch, ok bool, err error) {
	for {
		rec, ok, err := r.TryNext()
		if errors.As(err, new(*seglog.Damage)) {
			continue
		}
		if err != nil || !ok {
			return ids, false, err
		}
		if rec.Generation != generation {
			continue
		}
		c, err := s.decode(rec, stateOnly)
		if err != nil {
			return ids, false, err
		}
		return c.side.ids[s.kind], true, nil
	}
}

// seek returns a reader that meets every row behind a position. The log is in order of the source's ids, not of ours;
// but both only rise, so the last of the source's ids before which nothing is new is found by halving.
func (s *Side) seek(from tuple.Position) (*seglog.Reader, error) {
	low := uint64(0)
	if at := s.p.log.Oldest(); at.Generation == from.Generation {
		low = at.Key
	}
	high := s.p.log.Durable().Key
	if high <= low {
		return s.oldest(from.Generation)
	}
	var failed error
	n := sort.Search(int(high-low), func(i int) bool {
		known, err := s.known(seglog.Position{Generation: from.Generation, Key: low + uint64(i) + 1}, from.ID)
		if err != nil {
			failed = err
		}
		return !known
	})
	switch {
	case failed != nil:
		return nil, failed
	case n == 0:
		return s.oldest(from.Generation)
	}
	return s.p.log.Reader(seglog.Position{Generation: from.Generation, Key: low + uint64(n)})
}

// known reports whether the first record at a position brings nothing above an id, and so none before it does.
func (s *Side) known(at seglog.Position, id uint64) (bool, error) {
	r, err := s.p.log.Reader(at)
	if err != nil {
		return false, err
	}
	defer r.Close()
	ids, ok, err := s.peek(r, at.Generation)
	return ok && ids.first <= id+1, err
}
