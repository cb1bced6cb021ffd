package seglog

import "context"

// Commit stands for entries that were appended together.
type Commit struct {
	// First and Last are the seqs of the entries; of none, Last is First-1.
	First uint64
	Last  uint64
	log   *Log
	group *group
}

// Wait returns when the entries are durable, or will not be: after an error none of them is in the log, and they may be
// appended again. Two exceptions: if ctx ends, they may still become durable; and if the process is killed before the
// next append, entries that failed may be found at the next opening.
//
// One of the goroutines that wait does the write and the sync for all of them; the end of its ctx does not interrupt
// these.
func (c Commit) Wait(ctx context.Context) error {
	if c.group == nil {
		return nil
	}
	l := c.log
	for {
		l.mu.Lock()
		if c.group.done {
			defer l.mu.Unlock()
			return c.group.err
		}
		if err := ctx.Err(); err != nil {
			l.mu.Unlock()
			return err
		}
		if !l.flushing {
			l.flushNext()
			continue
		}
		turn := l.turn
		l.mu.Unlock()
		select {
		case <-turn:
		case <-ctx.Done():
		}
	}
}

// flushNext writes the pending group. It is called with mu held and no flush running, and returns without mu.
func (l *Log) flushNext() {
	l.flushing = true
	g := l.pending
	l.pending, l.running = nil, g
	l.mu.Unlock()
	err := l.write(g.buf)
	l.mu.Lock()
	defer l.mu.Unlock()
	g.done, g.err = true, err
	l.running = nil
	if err != nil {
		l.failLocked(err)
	}
	l.giveSpare(g.buf)
	g.buf = nil
	l.endTurnLocked()
}

// spares is how many buffers are kept: of the group that is written, and of the one that is filled meanwhile.
const spares = 2

// giveSpare keeps a buffer for a later group. One huge group does not hold its memory for ever.
func (l *Log) giveSpare(buf []byte) {
	if len(l.spare) < spares && cap(buf) <= 2*l.opts.PendingBytes {
		l.spare = append(l.spare, buf[:0])
	}
}

// takeSpare returns an empty buffer for a group.
func (l *Log) takeSpare() []byte {
	n := len(l.spare)
	if n == 0 {
		return nil
	}
	buf := l.spare[n-1]
	l.spare = l.spare[:n-1]
	return buf
}

func (l *Log) endTurnLocked() {
	l.flushing = false
	close(l.turn)
	l.turn = make(chan struct{})
}

// failLocked forgets everything that is not durable: what was appended meanwhile has seqs and keys that build on the
// failed entries. The active segment is closed at its durable end, so that no later write depends on what the failed
// one left there.
func (l *Log) failLocked(err error) {
	l.counts.Failures++
	if g := l.pending; g != nil {
		g.done, g.err = true, err
		l.pending = nil
	}
	l.appended = frame{seq: l.durableSeq, key: l.durable.Key}
	if l.file == nil {
		return
	}
	// Both may fail like the write did. The next segment says where this one ends, so neither matters to correctness;
	// giving back what was reserved matters on a full disk.
	_ = l.file.Truncate(l.active.end)
	_ = l.file.Close()
	l.file, l.active = nil, nil
}

// exclusive makes everything pending durable and keeps other flushes out until release is called.
func (l *Log) exclusive(ctx context.Context) (release func(), err error) {
	for {
		l.mu.Lock()
		switch {
		case l.closed:
			l.mu.Unlock()
			return nil, ErrClosed
		case l.flushing:
			turn := l.turn
			l.mu.Unlock()
			select {
			case <-turn:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		case l.pending != nil:
			g := l.pending
			l.flushNext()
			if err := (Commit{log: l, group: g}).Wait(ctx); err != nil {
				return nil, err
			}
		default:
			l.flushing = true
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				l.endTurnLocked()
				l.mu.Unlock()
			}, nil
		}
	}
}
