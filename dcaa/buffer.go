package dcaa

import (
	"fmt"
	"slices"
	"sort"

	"fednode/query/tuple"
)

// TruncatedError says that a subscriber asks for tuples that are gone: all counted neighbours had acknowledged them, or
// they belong to another generation.
type TruncatedError struct {
	Asked tuple.Position
	// First is the oldest place from which the stream can be continued: with the ids above First.ID. First.Time is the end
	// of the stretch of stime in which the rows before it lie; it promises no boundary.
	First tuple.Position
}

// Error names both places; a subscriber that has nothing asks for all.
func (e *TruncatedError) Error() string {
	gone := fmt.Sprintf("rows up to id %d of generation %d are not held any more", e.First.ID, e.First.Generation)
	if e.Asked.Generation == 0 {
		return gone
	}
	return fmt.Sprintf("%s, and those from behind id %d of generation %d are wanted", gone, e.Asked.ID, e.Asked.Generation)
}

// OutputBuffer holds the stable frames of one output in order, of one generation or of several: a GAP stands between
// them. Places in it are sequence numbers that count frames since the buffer was made and stay valid while the frame is
// held.
type OutputBuffer struct {
	// chain are the generations from that of truncated to the newest, in order: a subscriber of any of them is given the
	// rest of it, the GAP, and then the next.
	chain  []uint64
	frames []*tuple.Frame
	held   []holding // of frames[i]
	next   uint64    // number of the next frame
	bytes  int64
	dicts  tuple.Dictionaries
	away   int64 // bytes that are held elsewhere
	holes  int   // entries whose frames are lost
	// truncated is what has been dropped: all ids ≤ ID, all boundaries ≤ Time.
	truncated tuple.Position
	// lost is the end of the stretch of stime in which dropped rows lie. It can be beyond truncated.Time.
	lost tuple.Time
	// passed: a generation has been dropped to its end, so that somebody new cannot have all of the stream.
	passed bool
	acked  map[string]tuple.Position
	run    runFrames
	// spare holds the newest acknowledged frames, at most spareLimit bytes of them; nil if none are kept.
	spare      *OutputBuffer
	spareLimit int64
}

// holding is what the buffer knows of an entry: its sequence number, its size in memory, and where its frames are if they
// are not there. Numbers rise, not always by one.
type holding struct {
	seq  uint64
	size int64
	away Away
}

// NewOutputBuffer returns an empty buffer. start is the position of what was emitted, and acknowledged by all, before: the
// zero id and MinTime for a new stream. generation is that of start if it names none.
func NewOutputBuffer(generation uint64, start tuple.Position) *OutputBuffer {
	if start.Generation == 0 {
		start.Generation = generation
	}
	return &OutputBuffer{chain: []uint64{start.Generation}, truncated: start, lost: start.Time, acked: make(map[string]tuple.Position)}
}

// Append adds a frame: an INSERTION that continues the ids, a BOUNDARY that rises, or a GAP at the present id or at the
// beginning of a higher generation.
func (b *OutputBuffer) Append(f *tuple.Frame) {
	b.hold(f, Away{})
	switch {
	case f.Kind == tuple.Boundary:
		b.run.replaced(f.Time, b.next)
	case f.Kind == tuple.Gap && f.To > f.Time:
		b.run.keep(f.To)
	}
	b.dropIdleBoundary()
	b.truncate() // after a restart the neighbours may hold already what is produced again
}

// hold adds an entry.
func (b *OutputBuffer) hold(f *tuple.Frame, away Away) {
	size := b.weigh(f)
	b.frames = append(b.frames, f)
	b.held = append(b.held, holding{seq: b.next, size: size, away: away})
	b.next++
	b.bytes += size
	if f.Generation > b.chain[len(b.chain)-1] {
		b.chain = append(b.chain, f.Generation)
	}
}

// weigh estimates by how much memory more is held with a frame.
func (b *OutputBuffer) weigh(f *tuple.Frame) int64 {
	size := FrameBytes(f)
	if f.Batch != nil {
		size += b.dicts.Grown(f.Batch)
	}
	for _, m := range f.Missing {
		size += 24 + int64(len(m.Stream))
	}
	return size
}

// FrameBytes estimates the memory that a frame holds, dictionaries not counted: many frames share one.
func FrameBytes(f *tuple.Frame) int64 {
	const frame = 160
	if f.Batch == nil {
		return frame + int64(len(f.Reason))
	}
	return int64(frame+8*len(f.IDs)) + f.Batch.Bytes()
}

// Subscribe counts a downstream neighbour that has received everything up to from, of which its durable state covers
// durable: nothing beyond that is dropped from now on. It fails if what the neighbour asks for is gone already; it is
// counted from what is held then.
func (b *OutputBuffer) Subscribe(name string, from, durable tuple.Position) error {
	if _, counted := b.acked[name]; !counted {
		// Whether it has any state is not known yet, so it has acknowledged no time (see Dispensable).
		at := b.truncated
		at.Time = tuple.MinTime
		b.acked[name] = at
	}
	if err := b.Reaches(from); err != nil {
		return err
	}
	b.Ack(name, durable)
	return nil
}

// Reaches fails with a *TruncatedError if the rows behind a position are gone, or if it is of a generation that does not lead
// to this one. A position without a generation is the beginning of the stream.
func (b *OutputBuffer) Reaches(from tuple.Position) error {
	if err := b.reachesBack(from); err != nil {
		return err
	}
	if end, ok := b.hole(from); ok {
		return &TruncatedError{Asked: from, First: end}
	}
	return nil
}

// reachesBack fails if rows behind a position have been dropped from the beginning.
func (b *OutputBuffer) reachesBack(from tuple.Position) error {
	gone := b.truncated.ID > 0 || b.passed
	if from.Generation != 0 {
		gone = !slices.Contains(b.chain, from.Generation) || from.Compare(b.truncated) < 0
	}
	if gone {
		first := b.truncated
		first.Time = b.Lost()
		return &TruncatedError{Asked: from, First: first}
	}
	return nil
}

// furthest returns a place that is as far as either of two, and its Time as high.
func furthest(a, o tuple.Position) tuple.Position {
	at := max(a.Time, o.Time)
	if a.Compare(o) < 0 {
		a = o
	}
	a.Time = at
	return a
}

// Forget stops counting a neighbour. What the others have acknowledged is dropped.
func (b *OutputBuffer) Forget(name string) {
	delete(b.acked, name)
	b.truncate()
}

// Subscribers returns the counted neighbours, sorted, for status.
func (b *OutputBuffer) Subscribers() []string {
	names := make([]string, 0, len(b.acked))
	for n := range b.acked {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// Ack records that a neighbour's durable state covers everything up to p, and drops what all have acknowledged. An
// acknowledgement of a generation that is not held, of an unknown neighbour, or lower than one before changes nothing.
func (b *OutputBuffer) Ack(name string, p tuple.Position) {
	have, counted := b.acked[name]
	if !counted || !slices.Contains(b.chain, p.Generation) {
		return
	}
	b.acked[name] = furthest(have, p)
	b.truncate()
}

// Acked returns what a neighbour has acknowledged.
func (b *OutputBuffer) Acked(name string) (tuple.Position, bool) {
	p, ok := b.acked[name]
	return p, ok
}

// Frame returns the first spare or held frame whose number is at least seq, and its number; ok is false if none has been
// appended yet. An INSERTION without a batch stands for frames that are away, see AwayAt.
func (b *OutputBuffer) Frame(seq uint64) (f *tuple.Frame, at uint64, ok bool) {
	if b.spare != nil {
		if f, at, ok = b.spare.Frame(seq); ok {
			return f, at, ok
		}
	}
	i := sort.Search(len(b.held), func(i int) bool { return b.held[i].seq >= seq })
	if i == len(b.held) {
		return nil, seq, false
	}
	return b.frames[i], b.held[i].seq, true
}

// Unacknowledged returns the held frames in order; the caller does not change the slice's frames.
func (b *OutputBuffer) Unacknowledged() []*tuple.Frame {
	return append([]*tuple.Frame(nil), b.frames...)
}

// Truncated returns up to where frames have been dropped.
func (b *OutputBuffer) Truncated() tuple.Position { return b.truncated }

// Lost returns the end of the stretch of stime in which the dropped rows lie; MinTime if nothing is known of it.
func (b *OutputBuffer) Lost() tuple.Time { return max(b.truncated.Time, b.lost) }

// LostBefore says of a buffer that goes on after a restart what Lost has been: its start promises nothing of the rows before it.
func (b *OutputBuffer) LostBefore(t tuple.Time) {
	b.lost = max(b.lost, t)
	b.DropSpare()
}

// Bytes returns the memory held.
func (b *OutputBuffer) Bytes() int64 { return b.bytes }

// Len returns the number of frames held.
func (b *OutputBuffer) Len() int { return len(b.frames) }
