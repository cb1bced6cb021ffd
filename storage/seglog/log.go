package seglog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"fednode/storage/disk"
)

// ErrClosed is the error of every call on a closed log.
var ErrClosed = errors.New("the log is closed")

// Log is an open log. See the package comment.
type Log struct {
	// fixed after Open
	dir   string
	opts  Options
	seed  uint32
	lock  *disk.Lock
	ident *identityFile

	// owned by whoever has set flushing
	file     disk.File // of the active segment, nil if the next write begins a new one
	capacity int64     // bytes reserved in it

	mu         sync.Mutex
	id         Identity
	segs       []*segment // oldest first
	active     *segment   // the last of segs if it is being written, else nil
	durable    Position   // of the last durable record
	durableSeq uint64
	grown      chan struct{} // closed when the log has grown or is closed
	pending    *group        // what the next write takes, nil if nothing waits
	running    *group        // what is being written, nil if nothing is
	spare      [][]byte      // buffers for the next groups
	flushing   bool
	turn       chan struct{} // closed when the running flush ends
	appended   frame         // the last record appended, pending ones included
	closed     bool
	counts     Counts
}

// group is what one synced write makes durable. buf is the flusher's once the group is taken; the rest is guarded by
// Log.mu.
type group struct {
	buf  []byte
	done bool
	err  error
}

func newLog(dir string, o Options, ident *identityFile, segs []*segment) *Log {
	l := &Log{dir: dir, opts: o, seed: seed(ident.id.Log), ident: ident, id: ident.id, segs: segs,
		grown: make(chan struct{}), turn: make(chan struct{})}
	l.durable = Position{Generation: l.id.Generation}
	if n := len(segs); n > 0 {
		last := segs[n-1]
		l.durableSeq = last.lastSeq
		if last.generation == l.id.Generation {
			l.durable = last.last()
		}
	}
	l.appended = frame{seq: l.durableSeq, key: l.durable.Key}
	return l
}

// resume goes on in the newest segment.
func (l *Log) resume() error {
	s := l.segs[len(l.segs)-1]
	f, err := l.opts.OpenFile(s.path, os.O_RDWR)
	if err != nil {
		return disk.Wrap("open", s.path, err)
	}
	l.file, l.active = f, s
	return nil
}

// Identity returns the log's identity at this opening.
func (l *Log) Identity() Identity {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.id
}

// Durable returns the position of the last durable record of this generation, with key 0 if it has none.
func (l *Log) Durable() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.durable
}

// Oldest returns the smallest position that a reader may ask for: what was before has been truncated.
func (l *Log) Oldest() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldestLocked()
}

func (l *Log) oldestLocked() Position {
	if len(l.segs) == 0 {
		return Position{}
	}
	s := l.segs[0]
	switch {
	case s.firstSeq == 1:
		return Position{}
	case s.startKey == 0:
		return Position{Generation: s.generation}
	}
	return Position{Generation: s.generation, Key: s.startKey + 1}
}

// Append takes entries, in order, and returns before they are durable: Wait on the result, or Sync. It waits only while
// more than Options.PendingBytes wait to be written. Keys must not fall. On an error nothing was taken.
func (l *Log) Append(ctx context.Context, entries ...Entry) (Commit, error) {
	return l.append(ctx, nil, entries)
}

// AppendAfter is Append for a writer whose entries build on each other: it takes them only if seq is the last one taken,
// and else fails with ErrNotNext. So what is appended while an earlier write fails never gets into the log without it.
func (l *Log) AppendAfter(ctx context.Context, seq uint64, entries ...Entry) (Commit, error) {
	return l.append(ctx, &seq, entries)
}

// ErrNotNext means that an entry before has been lost in a failed write, or that somebody else has appended.
var ErrNotNext = errors.New("seglog: the entry before is not the last of the log")

// Appended returns the seq of the last entry taken, durable or not; 0 before the first.
func (l *Log) Appended() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.appended.seq
}

func (l *Log) append(ctx context.Context, after *uint64, entries []Entry) (Commit, error) {
	if err := l.checkSizes(entries); err != nil {
		return Commit{}, err
	}
	l.mu.Lock()
	for l.pending != nil && len(l.pending.buf) >= l.opts.PendingBytes && !l.closed {
		full := Commit{log: l, group: l.pending}
		l.mu.Unlock()
		if err := full.Wait(ctx); err != nil {
			return Commit{}, err
		}
		l.mu.Lock()
	}
	defer l.mu.Unlock()
	if after != nil && *after != l.appended.seq && !l.closed {
		return Commit{}, fmt.Errorf("%w: %d asked for, %d is", ErrNotNext, *after, l.appended.seq)
	}
	return l.takeLocked(entries)
}

func (l *Log) checkSizes(entries []Entry) error {
	for i := range entries {
		if n := len(entries[i].Payload); n > l.opts.PayloadBytes {
			return fmt.Errorf("seglog: append to %q: payload of %d bytes, at most %d are allowed", l.dir, n, l.opts.PayloadBytes)
		}
	}
	return nil
}

// takeLocked encodes the entries into the pending group.
func (l *Log) takeLocked(entries []Entry) (Commit, error) {
	if l.closed {
		return Commit{}, ErrClosed
	}
	key := l.appended.key
	for i := range entries {
		if entries[i].Key < key {
			return Commit{}, fmt.Errorf("seglog: append to %q: key %d after key %d; keys must not fall", l.dir, entries[i].Key, key)
		}
		key = entries[i].Key
	}
	c := Commit{First: l.appended.seq + 1, Last: l.appended.seq + uint64(len(entries)), log: l}
	if len(entries) == 0 {
		return c, nil
	}
	if l.pending == nil {
		l.pending = &group{buf: l.takeSpare()}
	}
	g := l.pending
	for i := range entries {
		l.appended = frame{seq: l.appended.seq + 1, key: entries[i].Key, time: entries[i].Time, durable: l.durableSeq}
		g.buf = appendRecord(g.buf, l.seed, l.appended, entries[i].Payload)
	}
	c.group = g
	return c, nil
}

// AppendSync appends entries and waits until they are durable. It returns the seq of the first. After an error none of
// them is in the log, unless ctx ended: then they may become durable later.
func (l *Log) AppendSync(ctx context.Context, entries ...Entry) (first uint64, err error) {
	c, err := l.Append(ctx, entries...)
	if err != nil {
		return 0, err
	}
	return c.First, c.Wait(ctx)
}

// Sync waits until everything appended so far is durable.
func (l *Log) Sync(ctx context.Context) error {
	l.mu.Lock()
	c := Commit{log: l, group: l.pending}
	if c.group == nil {
		c.group = l.running
	}
	closed := l.closed
	l.mu.Unlock()
	if closed {
		return ErrClosed
	}
	return c.Wait(ctx)
}

// NewGeneration begins a generation: keys start again from 0. What is pending is made durable first. The number is
// durable when it returns.
func (l *Log) NewGeneration(ctx context.Context) (uint64, error) {
	release, err := l.exclusive(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := l.sealFile(); err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ident.id.Generation++
	if err := l.ident.store(); err != nil {
		l.ident.id.Generation--
		return 0, err
	}
	l.id = l.ident.id
	l.durable = Position{Generation: l.id.Generation}
	l.appended.key = 0
	return l.id.Generation, nil
}

// Rotate closes the active segment, so that retention can remove it whole when its time comes.
func (l *Log) Rotate(ctx context.Context) error {
	release, err := l.exclusive(ctx)
	if err != nil {
		return err
	}
	defer release()
	if l.file == nil || l.active.records() == 0 {
		return nil
	}
	return l.sealFile()
}

// Close makes what is pending durable, marks the end as whole, and closes the log. Waiting readers get ErrClosed. It is
// idempotent.
func (l *Log) Close() error {
	release, err := l.exclusive(context.Background())
	if errors.Is(err, ErrClosed) {
		return nil
	}
	var errs []error
	if err != nil {
		errs = append(errs, err) // the pending entries are lost, and their callers know
		if release, err = l.exclusive(context.Background()); err != nil {
			return errors.Join(append(errs, err)...)
		}
	}
	errs = append(errs, l.markEnd(), l.sealFile())
	l.mu.Lock()
	l.closed = true
	close(l.grown)
	l.mu.Unlock()
	release()
	return errors.Join(append(errs, l.ident.reg.Close(), l.lock.Close())...)
}

func (l *Log) segmentPath(firstSeq uint64) string { return filepath.Join(l.dir, segmentName(firstSeq)) }
