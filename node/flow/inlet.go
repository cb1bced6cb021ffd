package flow

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// Directory finds streams by name, wherever they are produced.
type Directory interface {
	// Open returns a cursor of the named stream. A *RefusedError is final until somebody changes something;
	// *dcaa.TruncatedError says that the position is gone; any other error is worth another try.
	Open(ctx context.Context, stream string, s Subscriber) (Cursor, error)
	// Ack passes on what the subscriber's durable state covers. It does not block; an acknowledgement may be lost, and
	// the next one covers it.
	Ack(stream, subscriber string, p tuple.Position)
}

// Inlet is a subscription that lasts: it delivers every frame of a stream once and in order, over reconnects of the
// producer. It belongs to one goroutine, but for Ack and Status.
type Inlet struct {
	stream  string
	name    string
	counted bool
	schema  *tuple.Schema
	latest  func() tuple.Time // nil sets no limit
	dir     Directory
	report  func(context.Context, InletEvent)

	mu      sync.Mutex
	durable tuple.Position

	// Owned by the goroutine that calls Next.
	cursor   Cursor
	pos      tuple.Position // of what has been delivered
	promised tuple.Time     // highest boundary of this generation that has come: no later row lies below it
	settled  tuple.Time     // boundary at which this generation was taken up: what it has of before is not delivered
	failed   bool           // nothing new has come since the last opening or try
	delay    time.Duration  // before the next try after a failed one
	said     bool           // something has been reported
	lastSaid string
}

// InletEvent tells of a change: connected again, or the first cause of not being.
type InletEvent struct {
	Stream    string
	Connected bool
	// Cause is why the stream cannot be had; nil when connected.
	Cause error
	// At is the position from which the inlet goes on.
	At tuple.Position
}

// Retry times after a failure: they double from the first to the last.
const (
	retryFirst = 50 * time.Millisecond
	retryLast  = 2 * time.Second
)

// NewInlet returns a subscription that begins at s.From, which is durable. report hears of changes, never of single
// tries, on the goroutine that calls Next and with its context.
func NewInlet(dir Directory, stream string, s Subscriber, report func(context.Context, InletEvent)) *Inlet {
	return &Inlet{stream: stream, name: s.Name, counted: s.Counted, schema: s.Schema, latest: s.Latest, dir: dir, pos: s.From, durable: s.From, report: report, promised: tuple.MinTime, settled: tuple.MinTime, delay: retryFirst}
}

// Stream returns the stream's name.
func (i *Inlet) Stream() string { return i.stream }

// Ack passes on what the consumer's durable state covers. It may be called from any goroutine.
func (i *Inlet) Ack(p tuple.Position) {
	i.mu.Lock()
	i.durable = p
	i.mu.Unlock()
	i.dir.Ack(i.stream, i.name, p)
}

// subscriber is what the producer is told of us at an opening.
func (i *Inlet) subscriber() Subscriber {
	i.mu.Lock()
	defer i.mu.Unlock()
	return Subscriber{Name: i.name, From: i.pos, Durable: i.durable, Schema: i.schema, Counted: i.counted}
}

// Next returns the next frame. It waits through failures of the producer; it fails only when ctx ends. What the
// producer no longer holds is named by a GAP frame.
func (i *Inlet) Next(ctx context.Context) (*tuple.Frame, error) {
	for {
		if i.cursor == nil {
			gap, err := i.open(ctx)
			if err != nil {
				return nil, err
			}
			if gap != nil {
				return gap, nil
			}
		}
		f, err := i.cursor.Next(ctx)
		if err == nil && i.latest != nil {
			err = i.await(ctx, f)
		}
		if err == nil {
			if f, err = i.accept(f); err == nil {
				if f != nil {
					i.failed, i.delay = false, retryFirst
					return f, nil
				}
				continue
			}
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i.lose(ctx, err)
	}
}

// Close ends the subscription's connection; what was counted stays counted.
func (i *Inlet) Close() {
	if i.cursor != nil {
		i.cursor.Close()
		i.cursor = nil
	}
}

func (i *Inlet) lose(ctx context.Context, cause error) {
	i.cursor.Close()
	i.cursor = nil
	i.say(ctx, cause)
}

// say reports a change of what keeps the stream away, once.
func (i *Inlet) say(ctx context.Context, cause error) {
	text := ""
	if cause != nil {
		text = cause.Error()
	}
	if i.said && text == i.lastSaid {
		return
	}
	i.said, i.lastSaid = true, text
	i.report(ctx, InletEvent{Stream: i.stream, Connected: cause == nil, Cause: cause, At: i.pos})
}

// open tries until the stream is there. A truncated position becomes a GAP, once the stream is open behind it. After an
// opening that brought nothing new it waits first: a producer that grants a stream and cannot give it is not asked
// without pause.
func (i *Inlet) open(ctx context.Context) (gap *tuple.Frame, err error) {
	for {
		if i.failed {
			if err := i.wait(ctx); err != nil {
				return nil, err
			}
		}
		c, err := i.dir.Open(ctx, i.stream, i.subscriber())
		if err == nil {
			i.cursor, i.failed = c, true
			i.say(ctx, nil)
			return gap, nil
		}
		var gone *dcaa.TruncatedError
		if errors.As(err, &gone) {
			i.failed = gap != nil // its answer is taken up at once, a second one is not
			gap = i.gap(gone)
			continue
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		i.failed = true
		i.say(ctx, err)
	}
}

// gap moves the position to the oldest that is held and names what lies between. It promises no boundary: the producer
// gives that itself.
func (i *Inlet) gap(gone *dcaa.TruncatedError) *tuple.Frame {
	f := &tuple.Frame{Kind: tuple.Gap, Time: i.pos.Time, To: max(i.pos.Time, gone.First.Time), Generation: gone.First.Generation, FirstID: gone.First.ID, Reason: gone.Error()}
	return i.jump(f)
}

// jump goes on behind a gap. A new generation may begin with rows that lie before what the one before had promised: a
// source whose log has lost its end reads them again. The consumer is done with that stretch and must not get them.
// One that comes again, because the inlet stands within the rows behind it, does not lead back.
func (i *Inlet) jump(gap *tuple.Frame) *tuple.Frame {
	switch {
	case gap.Generation != i.pos.Generation:
		i.promised, i.settled = tuple.MinTime, i.pos.Time
	case gap.FirstID < i.pos.ID:
		again := *gap // others may hold the frame
		again.FirstID = i.pos.ID
		gap = &again
	}
	i.pos.Generation, i.pos.ID = gap.Generation, gap.FirstID
	return gap
}

func (i *Inlet) wait(ctx context.Context) error {
	t := time.NewTimer(i.delay)
	defer t.Stop()
	i.delay = min(2*i.delay, retryLast)
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// accept checks that a frame continues what was delivered, and cuts off what the consumer holds already. It returns nil
// for a frame that says nothing new.
func (i *Inlet) accept(f *tuple.Frame) (*tuple.Frame, error) {
	switch f.Kind {
	case tuple.Insertion:
		return i.acceptRows(f)
	case tuple.Boundary:
		i.promised = max(i.promised, f.Time)
		if f.Time <= i.pos.Time {
			return nil, nil
		}
		i.pos.Time = f.Time
	case tuple.Gap:
		return i.jump(f), nil
	}
	return f, nil
}

func (i *Inlet) acceptRows(f *tuple.Frame) (*tuple.Frame, error) {
	if f.Generation != i.pos.Generation && i.pos.Generation != 0 {
		return nil, fmt.Errorf("stream %s: generation %d after %d without a gap", i.stream, f.Generation, i.pos.Generation)
	}
	if f.FirstID > i.pos.ID+1 {
		return nil, fmt.Errorf("stream %s: ids %d to %d are missing", i.stream, i.pos.ID+1, f.FirstID-1)
	}
	if f.LastID <= i.pos.ID {
		return nil, nil
	}
	f = f.After(i.pos.ID)
	first := earliest(f.Batch)
	if first < i.promised {
		return nil, fmt.Errorf("stream %s: a row of %v after the boundary %v", i.stream, first, i.promised)
	}
	i.pos.ID, i.pos.Generation = f.LastID, f.Generation
	if first < i.settled {
		f = since(f, i.settled)
	}
	return f, nil
}

// since returns the frame without the rows before t, nil if none is left.
func since(f *tuple.Frame, t tuple.Time) *tuple.Frame {
	cut := *f
	cut.Batch = &tuple.Batch{Schema: f.Batch.Schema, Time: f.Batch.Time, Cols: f.Batch.Cols, Ordered: f.Batch.Ordered}
	cut.IDs = nil
	for n := range f.Batch.Rows() {
		row := f.Batch.Row(n)
		if f.Batch.Time[row] < t {
			continue
		}
		id := f.FirstID + uint64(n)
		if f.IDs != nil {
			id = f.IDs[n]
		}
		cut.Batch.Sel, cut.IDs = append(cut.Batch.Sel, uint32(row)), append(cut.IDs, id)
	}
	if cut.IDs == nil {
		return nil
	}
	return &cut
}

// lookAgain is how often the clock is looked at while a frame waits: it may be set.
const lookAgain = time.Second

// await holds a frame that would push the clock of everything downstream. It drops nothing: whether a row is taken must not
// depend on our clock, or two replicas would differ; only when it is taken may.
func (i *Inlet) await(ctx context.Context, f *tuple.Frame) error {
	early := i.punctual(f)
	if early == nil {
		return nil
	}
	tick := time.NewTicker(lookAgain)
	defer tick.Stop()
	for ; early != nil; early = i.punctual(f) {
		i.say(ctx, early)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	i.say(ctx, nil)
	return nil
}

// punctual says whether a frame may be taken now.
func (i *Inlet) punctual(f *tuple.Frame) error {
	t := tuple.MinTime
	switch {
	case f.Kind == tuple.Insertion && f.LastID > i.pos.ID:
		t = last(f.Batch)
	case f.Kind == tuple.Boundary && f.Time != tuple.MaxTime: // an end is no time
		t = f.Time
	}
	if latest := i.latest(); t > latest {
		return &FutureError{Stream: i.stream, Time: t, Latest: latest}
	}
	return nil
}

// last returns the largest stime of a batch, MinTime if it has no rows.
func last(b *tuple.Batch) tuple.Time {
	high := tuple.MinTime
	if b.Sel == nil {
		for _, t := range b.Time {
			high = max(high, t)
		}
		return high
	}
	for _, r := range b.Sel {
		high = max(high, b.Time[r])
	}
	return high
}

// earliest returns the smallest stime of a batch, MaxTime if it has no rows.
func earliest(b *tuple.Batch) tuple.Time {
	low := tuple.MaxTime
	if b.Sel == nil {
		for _, t := range b.Time {
			low = min(low, t)
		}
		return low
	}
	for _, r := range b.Sel {
		low = min(low, b.Time[r])
	}
	return low
}
