package seglog

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fednode/storage/disk"
)

// TruncatedError says that a reader asked for records that are no longer kept.
type TruncatedError struct {
	Asked  Position
	Oldest Position // the smallest position that can be asked for
}

// Error names both positions.
func (e *TruncatedError) Error() string {
	return fmt.Sprintf("records from key %v are no longer kept; the oldest are from key %v", e.Asked, e.Oldest)
}

// Reader iterates over durable records in order. It is for one goroutine at a time; any number of readers run beside
// appends and truncation. A reader that is inside a segment which is truncated reads it to its end.
type Reader struct {
	log  *Log
	from Position
	seg  *segment
	file disk.File
	cur  cursor
	next uint64 // seq of the next record
}

// Reader returns a reader that begins at the first record whose position is not before from. If that may have been
// truncated the error is a *TruncatedError; use Oldest to take what there is.
func (l *Log) Reader(from Position) (*Reader, error) {
	s, oldest, closed := l.segmentOf(from)
	if closed {
		return nil, ErrClosed
	}
	if from.Before(oldest) {
		return nil, &TruncatedError{Asked: from, Oldest: oldest}
	}
	r := &Reader{log: l, from: from, next: 1}
	if s == nil {
		return r, nil
	}
	if err := r.enter(s); err != nil {
		return nil, err
	}
	if err := r.seek(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// segmentOf returns the first segment that may hold a record not before p, or the last one.
func (l *Log) segmentOf(p Position) (s *segment, oldest Position, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s = range l.segs {
		if !s.last().Before(p) {
			break
		}
	}
	return s, l.oldestLocked(), l.closed
}

// enter opens a segment at its beginning.
func (r *Reader) enter(s *segment) error {
	f, err := r.log.opts.OpenFile(s.path, os.O_RDONLY)
	if errors.Is(err, os.ErrNotExist) {
		return &TruncatedError{Asked: r.from, Oldest: r.log.Oldest()}
	}
	if err != nil {
		return disk.Wrap("open", s.path, err)
	}
	old := r.file
	buf := r.cur.buf[:0]
	r.seg, r.file, r.next = s, f, s.firstSeq
	r.cur = s.cursorAt(f, r.log.seed, place{seq: s.firstSeq, off: headerBytes})
	r.cur.buf = buf
	if old != nil {
		return old.Close()
	}
	return nil
}

// seek moves within the segment to the last indexed place before from.
func (r *Reader) seek() error {
	s := r.seg
	if r.from.Generation != s.generation {
		return nil
	}
	if err := r.index(); err != nil {
		return err
	}
	r.log.mu.Lock()
	p := s.seek(func(p place) bool { return p.key < r.from.Key })
	r.log.mu.Unlock()
	r.cur.off, r.cur.seq, r.next = p.off, p.seq-1, p.seq
	return nil
}

// index makes sure that the segment's index exists. Segments from before this opening are scanned the first time that
// somebody seeks in them.
func (r *Reader) index() error {
	l := r.log
	l.mu.Lock()
	s := *r.seg
	l.mu.Unlock()
	if s.indexed {
		return nil
	}
	if _, err := scanSegment(&s, r.file, l.seed, extent{size: s.end, lastSeq: s.lastSeq}); err != nil {
		return disk.Wrap("index", s.path, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.seg.index, r.seg.indexed = s.index, true
	return nil
}

// Next returns the next record; its payload is valid until the next call. At the tail it waits. Besides the end of ctx
// and ErrClosed there are two errors after which Next may be called again: *Damage tells what is lost here and the next
// call goes on behind it; an error of the disk is tried again at the same place. *TruncatedError means that the reader
// was too slow.
func (r *Reader) Next(ctx context.Context) (Record, error) {
	for {
		grown, closed := r.log.growth()
		rec, ok, err := r.TryNext()
		if ok || err != nil {
			return rec, err
		}
		if closed {
			return rec, ErrClosed
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return rec, ctx.Err()
		}
	}
}

func (l *Log) growth() (grown <-chan struct{}, closed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grown, l.closed
}

// TryNext is Next without waiting: ok is false at the tail.
func (r *Reader) TryNext() (rec Record, ok bool, err error) {
	for {
		if r.seg != nil {
			rec, ok, err = r.inSegment()
			if ok || err != nil {
				return rec, ok, err
			}
		}
		moved, err := r.advance()
		if !moved || err != nil {
			return Record{}, false, err
		}
	}
}

// inSegment returns the next record of the present segment.
func (r *Reader) inSegment() (rec Record, ok bool, err error) {
	lastSeq, lastKey := r.extend()
	for r.cur.off < r.cur.end {
		f, payload, ok, err := r.cur.step()
		if err != nil {
			return rec, false, disk.Wrap("read", r.seg.path, err)
		}
		if !ok {
			if d, err := r.skip(lastSeq, lastKey); d != nil || err != nil {
				if err == nil {
					err = d
				}
				return rec, false, err
			}
			continue
		}
		if f.mark {
			continue
		}
		r.next = f.seq + 1
		if !(Position{r.seg.generation, f.key}).Before(r.from) {
			return Record{Seq: f.seq, Generation: r.seg.generation, Key: f.key, Time: f.time, Payload: payload}, true, nil
		}
	}
	return rec, false, nil
}

// extend lets the cursor see what has become durable in the segment.
func (r *Reader) extend() (lastSeq, lastKey uint64) {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.cur.end = r.seg.end
	return r.seg.lastSeq, r.seg.lastKey
}

// skip goes on behind damage, and returns it unless everything that is lost lies before what the reader asked for.
func (r *Reader) skip(lastSeq, lastKey uint64) (*Damage, error) {
	g := r.seg.generation
	d := &Damage{Path: r.seg.path, Offset: r.cur.off, After: Position{g, r.cur.key}}
	seq := r.cur.seq
	next, found, err := r.cur.resync()
	if err != nil {
		return nil, disk.Wrap("read", r.seg.path, err)
	}
	d.Bytes, d.Before = r.cur.off-d.Offset, Position{g, next.key}
	if !found {
		r.cur.seq, r.cur.key = lastSeq, lastKey
		d.Before.Key = lastKey
	}
	d.Records = r.cur.seq - seq
	r.next = r.cur.seq + 1
	if d.Records == 0 || d.Before.Before(r.from) {
		return nil, nil
	}
	return d, nil
}

// advance moves to the segment that holds the next record, if there is one by now.
func (r *Reader) advance() (moved bool, err error) {
	l := r.log
	l.mu.Lock()
	var s, after *segment
	for _, c := range l.segs {
		if c.firstSeq > r.next {
			after = c
			break
		}
		s = c
	}
	oldest := l.oldestLocked()
	// Between the last look and this one the segment may have grown and another begun.
	unread := s != nil && s == r.seg && r.cur.off < s.end
	l.mu.Unlock()
	switch {
	case unread:
		return true, nil
	case s != nil && s != r.seg:
		return true, r.enter(s)
	case after == nil:
		return false, nil
	case s == nil:
		return false, &TruncatedError{Asked: r.from, Oldest: oldest}
	}
	d := &Damage{Path: after.path, Records: after.firstSeq - r.next, After: s.last(),
		Before: Position{after.generation, after.startKey}}
	r.next = after.firstSeq
	return false, d
}

// Close frees the reader's file.
func (r *Reader) Close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
}
