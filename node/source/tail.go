package source

import (
	"context"
	"sort"
	"sync"

	"fednode/query/tuple"
)

// tail is the newest part of a stream in memory, so that subscribers that keep up read no file.
type tail struct {
	mu sync.Mutex
	// frames in order; frames[i] has the number base+i.
	frames []*tuple.Frame
	base   uint64
	// rows are the numbers of the frames with rows, in order: between two of them a quiet source has any number of
	// boundaries.
	rows   []uint64
	bytes  int64
	limit  int64
	head   tuple.Position
	closed error
	// changed is closed and replaced whenever something comes.
	changed chan struct{}
}

// newTail returns the tail of a stream that has come to head. It begins with the boundary there: who has read all rows
// from the log may still lack that.
func newTail(limit int64, head tuple.Position) *tail {
	t := &tail{limit: limit, head: head, changed: make(chan struct{})}
	if head.Time != tuple.MinTime {
		t.publish(&tuple.Frame{Kind: tuple.Boundary, Generation: head.Generation, Time: head.Time})
	}
	return t
}

// publish adds durable frames.
func (t *tail) publish(frames ...*tuple.Frame) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, f := range frames {
		if f.Kind == tuple.Insertion {
			t.rows = append(t.rows, t.base+uint64(len(t.frames)))
		}
		t.frames = append(t.frames, f)
		t.bytes += frameBytes(f)
		t.head.Generation = f.Generation
		if f.Kind == tuple.Insertion {
			t.head.ID = f.LastID
		} else {
			t.head.Time = f.Time
		}
	}
	drop := 0
	for t.bytes > t.limit && drop < len(t.frames)-1 {
		t.bytes -= frameBytes(t.frames[drop])
		drop++
	}
	clear(t.frames[:drop])
	t.frames, t.base = t.frames[drop:], t.base+uint64(drop)
	for len(t.rows) > 0 && t.rows[0] < t.base {
		t.rows = t.rows[1:]
	}
	t.wake()
}

func (t *tail) wake() {
	close(t.changed)
	t.changed = make(chan struct{})
}

// close ends every cursor with err, once what is there has been read.
func (t *tail) close(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed == nil {
		t.closed = err
		t.wake()
	}
}

func (t *tail) position() tuple.Position {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.head
}

// seek returns the number of the first frame that a subscriber at p may need, and ok if nothing between p and that
// frame has been dropped.
func (t *tail) seek(p tuple.Position) (next uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.Generation != 0 && p.Generation != t.head.Generation {
		return 0, false
	}
	k := sort.Search(len(t.rows), func(k int) bool { return t.frame(t.rows[k]).LastID > p.ID })
	start, joined := t.base, k > 0
	if joined {
		start = t.rows[k-1] + 1
	}
	end := t.base + uint64(len(t.frames))
	if k < len(t.rows) {
		end = t.rows[k]
		joined = joined || t.frame(end).FirstID <= p.ID+1
	} else {
		joined = joined || p.ID == t.head.ID
	}
	// From start to end there are boundaries, which rise: those that the subscriber has are skipped.
	known := sort.Search(int(end-start), func(i int) bool { return t.frame(start+uint64(i)).Time > p.Time })
	return start + uint64(known), joined
}

// frame returns the frame of a number that is held. mu is held.
func (t *tail) frame(number uint64) *tuple.Frame { return t.frames[number-t.base] }

// next returns the frame of a number, waiting for it; ok is false if it has been dropped.
func (t *tail) next(ctx context.Context, number uint64) (f *tuple.Frame, ok bool, err error) {
	for {
		t.mu.Lock()
		if number < t.base {
			t.mu.Unlock()
			return nil, false, nil
		}
		if i := number - t.base; i < uint64(len(t.frames)) {
			f := t.frames[i]
			t.mu.Unlock()
			return f, true, nil
		}
		changed, closed := t.changed, t.closed
		t.mu.Unlock()
		if closed != nil {
			return nil, false, closed
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
}

// frameBytes is an estimate that is cheap: the tail only needs to stay bounded.
func frameBytes(f *tuple.Frame) int64 {
	if f.Batch == nil {
		return 128
	}
	return 128 + int64(len(f.Batch.Time))*int64(8+8*len(f.Batch.Cols))
}
