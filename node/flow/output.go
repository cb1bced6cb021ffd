package flow

import (
	"sync"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// Output is the stream of one fragment output.
type Output struct {
	// Fixed after New.
	name   string
	schema *tuple.Schema
	limit  int64
	own    string
	lapsed func(string)
	unread bool
	// overflow takes what does not fit into memory, at most spillLimit bytes; nil if there is none.
	overflow    Overflow
	spillLimit  int64
	overflowing chan struct{}
	keep        int64
	givenUp     func(tuple.Position)
	partner     Partner
	now         func() time.Time
	began       time.Time

	mu       sync.Mutex
	kept     uint64 // the oldest record that has not been freed
	spillErr error  // why nothing more could be put into the overflow when that was last tried
	// standings are those of partners, lapses their subscriptions that are not counted any more.
	standings map[string]standing
	lapses    Lapses
	buffer    *dcaa.OutputBuffer
	dwell     dcaa.Dwell
	relied    int // cursors that take tentative frames
	head      tuple.Position
	status    dcaa.StreamStatus // as the fragment last said; the zero value before it did
	closed    bool
	// changed is closed and replaced whenever frames come, room is made or the stream is closed.
	changed chan struct{}
}

var _ Stream = (*Output)(nil)

// OutputConfig describes an output.
type OutputConfig struct {
	Name   string
	Schema *tuple.Schema
	// Limit is how many bytes of unacknowledged frames in memory make the output Full.
	Limit int64
	// Overflow takes what would fill more than half of that, at most OverflowBytes; nil if there is none.
	Overflow      Overflow
	OverflowBytes int64
	// Keep, if it is not 0, gives up the oldest frames when the output can hold no more, but for those that lie at most so many
	// microseconds of stime behind its end. GivenUp is told, under the output's lock, up to where.
	Keep    int64
	GivenUp func(upTo tuple.Position)
	// Partner bounds what subscribers of other organisations hold back.
	Partner Partner
	// Now is the clock that lapses are dated by, and that says how long boundaries have waited; nil is time.Now.
	Now func() time.Time
	// Generation in which numbering goes on, from 1.
	Generation uint64
	// Start is where numbering goes on: the zero id and MinTime for a new stream; for a restored one the position before
	// the first entry of Held, which may be of an older generation.
	Start tuple.Position
	// Lost is up to which stime the rows before Start may lie; 0 if that is not known, or there are none.
	Lost tuple.Time
	// Held are the unacknowledged frames of a recovery point, in order.
	Held []dcaa.Held
	// Own is the prefix of our own organisation's subscribers. Others never fill the output: when it is full, who of them
	// is furthest behind is no longer counted, and Lapsed is told.
	Own    string
	Lapsed func(subscriber string)
	// Expected subscribers are counted from the start: nothing is dropped before they came.
	Expected []string
	// Acked are subscribers that a recovery point has counted, and what each has acknowledged; they are counted on.
	Acked map[string]tuple.Position
	// Unread: nobody is known to read the output. While nobody does, the newest half of Limit is held rather than all.
	Unread bool
}

// spareShare is the part of Limit that acknowledged frames may take besides, for readers that are not counted: those that
// acknowledge are often a little ahead of a person who looks on.
const spareShare = 16

// NewOutput returns an open output.
func NewOutput(cfg OutputConfig) *Output {
	o := &Output{name: cfg.Name, schema: cfg.Schema, limit: cfg.Limit, own: cfg.Own, lapsed: cfg.Lapsed, unread: cfg.Unread, changed: make(chan struct{}), head: cfg.Start,
		overflow: cfg.Overflow, overflowing: make(chan struct{}, 1), partner: cfg.Partner, keep: cfg.Keep, givenUp: cfg.GivenUp, now: cfg.Now, standings: make(map[string]standing)}
	if o.overflow != nil {
		o.spillLimit = cfg.OverflowBytes
	}
	if o.now == nil {
		o.now = time.Now
	}
	o.began = o.now()
	if o.head.Generation == 0 {
		o.head.Generation = cfg.Generation
	}
	o.buffer = dcaa.NewOutputBuffer(cfg.Generation, cfg.Start)
	o.buffer.KeepSpare(cfg.Limit / spareShare)
	if cfg.Lost != 0 {
		o.buffer.LostBefore(cfg.Lost)
	}
	for _, name := range cfg.Expected {
		// From what is held on: it cannot fail.
		_ = o.buffer.Subscribe(name, o.head, o.head)
	}
	for name, p := range cfg.Acked {
		_ = o.buffer.Subscribe(name, o.head, o.head)
		o.buffer.Ack(name, p)
	}
	for _, h := range cfg.Held {
		o.restore(h)
	}
	o.note()
	return o
}

// restore adds what a recovery point held.
func (o *Output) restore(h dcaa.Held) {
	if h.Away.Record == 0 {
		o.append(h.Frame)
		return
	}
	o.buffer.Restore(h)
	o.head.ID, o.head.Time = h.Frame.LastID, max(o.head.Time, h.Away.Time)
}

func (o *Output) append(f *tuple.Frame) {
	if f.Batch == nil {
		o.dwell.Note(f, o.instant())
	}
	switch f.Kind {
	case tuple.Tentative, tuple.TentativeBoundary, tuple.Undo, tuple.RecDone:
		o.buffer.AppendTentative(f, o.limit)
		return
	}
	o.buffer.Append(f)
	o.head = o.head.Past(f)
}

// instant is the present one on the clock of ages.
func (o *Output) instant() dcaa.Instant { return dcaa.Instant(o.now().Sub(o.began).Microseconds()) }

// aged returns a frame as it is to be given now. mu is held.
func (o *Output) aged(f *tuple.Frame) *tuple.Frame {
	if f.Batch != nil {
		return f
	}
	return o.dwell.Stamp(f, o.instant())
}

// Relied reports whether a cursor that takes tentative frames is open.
func (o *Output) Relied() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.relied > 0
}

// Name returns the stream's full name.
func (o *Output) Name() string { return o.name }

// Schema returns the stream's schema.
func (o *Output) Schema() *tuple.Schema { return o.schema }

// Head returns the position of what has been produced.
func (o *Output) Head() tuple.Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.head
}

// Beat is what heartbeats say of the output.
func (o *Output) Beat() dcaa.StreamStatus {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.status.State == 0 {
		return StatusOf(o.head)
	}
	return o.status
}

// SetStatus tells what heartbeats are to say of the output.
func (o *Output) SetStatus(s dcaa.StreamStatus) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.status = s
}

// Append adds an owned frame. It never blocks: the producer looks at Full between buckets, since a bucket that has begun
// must be ended before anybody downstream can acknowledge any of it.
func (o *Output) Append(f *tuple.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.append(f)
	if o.own != "" && o.exhausted() {
		o.lapseLast()
	}
	if o.keep > 0 && o.exhausted() {
		o.giveUp()
	}
	if o.unread && o.buffer.Bytes() >= o.limit {
		o.buffer.Shed(o.limit / 2)
	}
	if 2*o.buffer.Bytes() >= o.limit {
		o.buffer.DropSpare()
	}
	o.wake()
}

// ForgetAbsent stops counting replicas whose node has been away for longer than after, or is away while they hold back half
// of what the output may hold; another replica of the same neighbour is further. It returns who they are.
func (o *Output) ForgetAbsent(absent func(subscriber string) time.Duration, after time.Duration, known func(subscriber string) bool) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.strained() {
		after = 0
	}
	gone := dcaa.Dispensable(o.counted(), func(name string) bool { return absent(name) > after }, known)
	for _, name := range gone {
		o.forget(name)
	}
	if len(gone) > 0 {
		o.wake()
	}
	return gone
}

// Full reports whether the output holds as much in memory as it may, and a channel that is closed when that may have changed.
func (o *Output) Full() (full bool, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Bytes() >= o.limit, o.changed
}

// wake tells everybody who waits that something has changed. mu is held.
func (o *Output) wake() {
	close(o.changed)
	o.changed = make(chan struct{})
	o.note()
}

// Open returns a cursor behind the subscriber's position.
func (o *Output) Open(s Subscriber) (Cursor, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, ErrClosed
	}
	if s.Counted {
		if err := Admit(o.name, s.Name, o.own, o.counted()); err != nil {
			return nil, err
		}
		o.lapses.Back(s.Name) // it is counted again, if from what is held
		if err := o.buffer.Subscribe(s.Name, s.From, s.Durable); err != nil {
			return nil, err
		}
		o.wake() // room may have been made
	} else if err := o.buffer.SpareReaches(s.From); err != nil {
		return nil, err
	}
	c := &outputCursor{o: o, seq: o.buffer.Seek(s.From), at: s.From, counted: s.Counted, tentative: s.Tentative}
	if s.Tentative {
		c.runSeq = o.buffer.SeekRun(s.TentativeFrom)
		o.relied++
	}
	return c, nil
}

// Ack records what a subscriber's durable state covers.
func (o *Output) Ack(subscriber string, p tuple.Position) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.comeBack(subscriber, p)
	o.buffer.Ack(subscriber, p)
	o.wake()
}

// Forget stops counting a subscriber.
func (o *Output) Forget(subscriber string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.forget(subscriber)
	o.wake()
}

// forget stops counting a subscriber, and keeps nothing of it. mu is held.
func (o *Output) forget(subscriber string) {
	o.buffer.Forget(subscriber)
	delete(o.standings, subscriber)
}

// Unacknowledged returns the frames that are held in memory, and the position before the first of them.
func (o *Output) Unacknowledged() (tuple.Position, []*tuple.Frame) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Truncated(), o.buffer.Unacknowledged()
}

// Truncated returns up to where frames have been dropped.
func (o *Output) Truncated() tuple.Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Truncated()
}

// Entries is what a recovery point has to hold of an output, of one moment.
type Entries struct {
	// Held are the unacknowledged frames in order, and what stands for those that are outside of memory.
	Held []dcaa.Held
	// Start is up to where frames have been dropped, and Lost up to which stime their rows lie; MinTime if that is not known.
	Start tuple.Position
	Lost  tuple.Time
	// Acked is who is counted, and what each has acknowledged.
	Acked map[string]tuple.Position
}

// Entries returns what a recovery point has to hold.
func (o *Output) Entries() Entries {
	o.mu.Lock()
	defer o.mu.Unlock()
	return Entries{Held: o.buffer.Held(), Start: o.buffer.Truncated(), Lost: o.buffer.Lost(), Acked: o.counted()}
}

// Held returns the bytes of unacknowledged frames in memory, and the limit.
func (o *Output) Held() (bytes, limit int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.Bytes(), o.limit
}

// Spare returns the bytes of acknowledged frames that are kept in memory for readers that are not counted.
func (o *Output) Spare() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buffer.SpareBytes()
}

// Subscribers returns who is counted, and what each has acknowledged.
func (o *Output) Subscribers() map[string]tuple.Position {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.counted()
}

// counted is Subscribers with mu held.
func (o *Output) counted() map[string]tuple.Position {
	out := make(map[string]tuple.Position)
	for _, name := range o.buffer.Subscribers() {
		out[name], _ = o.buffer.Acked(name)
	}
	return out
}

// Close ends every cursor with ErrClosed. It may be called twice.
func (o *Output) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.closed {
		o.closed = true
		o.wake()
	}
}
