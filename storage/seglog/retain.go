package seglog

import (
	"errors"
	"io/fs"
	"os"

	"fednode/query/tuple"
	"fednode/storage/disk"
)

// Retention says how much history stays in the log. The zero value keeps what is pinned and nothing else.
type Retention struct {
	// Age keeps records whose time is at most so many microseconds before now; 0 sets no age.
	Age int64
	// Bytes keeps at most so many bytes of history; 0 sets no size. With both, both limits hold.
	Bytes int64
	// AgeIsMaximum also removes pinned records when they are past Age, where privacy demands that.
	AgeIsMaximum bool
}

// Removed says what truncation took.
type Removed struct {
	Segments int
	Bytes    int64
	// Pinned is how many of these segments held records that somebody still needed: those were past the maximum age.
	Pinned int
}

// Since returns a position from which a reader meets every record with a time of at least t: the beginning of the
// first segment that may hold one. Earlier records that lie there too are met as well.
func (l *Log) Since(t tuple.Time) Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := l.oldestLocked()
	for i, s := range l.segs {
		if i > 0 && s.firstSeq > 1 {
			at = Position{Generation: s.generation, Key: s.startKey}
		}
		if s.maxTime >= t {
			break
		}
	}
	return at
}

// TruncateBefore removes whole segments in which every record is before p. The newest segment with records always stays.
func (l *Log) TruncateBefore(p Position) (Removed, error) {
	return l.remove(func(segs []*segment) (n, pinned int) { return countBefore(segs, p), 0 })
}

// Retain removes the segments that a retention lets go, oldest first. Records from position pinned on are needed by
// somebody and stay; now is the stream time that ages are counted from. The newest segment with records always stays:
// where a maximum age must hold to the minute, call Rotate now and then.
func (l *Log) Retain(r Retention, now tuple.Time, pinned Position) (Removed, error) {
	return l.remove(func(segs []*segment) (int, int) { return r.decide(segs, now, pinned) })
}

// decide returns how many of the oldest segments go, and how many of them are pinned.
func (r Retention) decide(segs []*segment, now tuple.Time, pinned Position) (n, pins int) {
	free := countBefore(segs, pinned)
	total := int64(0)
	for _, s := range segs {
		total += s.end
	}
	for n < newestOf(segs) {
		s := segs[n]
		old := r.Age > 0 && s.maxTime < now.Add(-r.Age)
		large := r.Bytes > 0 && total > r.Bytes
		keepsNothing := r.Age <= 0 && r.Bytes <= 0
		switch {
		case n < free && (old || large || keepsNothing):
		case n >= free && old && r.AgeIsMaximum:
			pins++
		default:
			return n, pins
		}
		total -= s.end
		n++
	}
	return n, pins
}

// countBefore returns how many of the oldest segments lie wholly before p, never the newest with records.
func countBefore(segs []*segment, p Position) int {
	n := 0
	for n < newestOf(segs) && segs[n].last().Before(p) {
		n++
	}
	return n
}

// newestOf returns the place of the newest segment with records: behind it there may be one that a failed write has left
// empty, and whoever opens the log goes on from its last record.
func newestOf(segs []*segment) int {
	n := len(segs) - 1
	for n > 0 && segs[n].records() == 0 {
		n--
	}
	return n
}

// remove drops the segments that decide names from the chain, then their files, oldest first: after a crash in between
// what is left is still a chain.
func (l *Log) remove(decide func([]*segment) (n, pinned int)) (Removed, error) {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return Removed{}, ErrClosed
	}
	n, pinned := decide(l.segs)
	gone := l.segs[:n]
	l.segs = append([]*segment(nil), l.segs[n:]...)
	l.mu.Unlock()
	out := Removed{Segments: n, Pinned: pinned}
	var errs []error
	for _, s := range gone {
		out.Bytes += s.end
		if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, disk.Wrap("remove", s.path, err))
		}
	}
	return out, errors.Join(errs...)
}
