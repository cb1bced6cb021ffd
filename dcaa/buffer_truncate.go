package dcaa

import (
	"math"
	"slices"
	"sort"

	"fednode/query/tuple"
)

// truncate drops the frames that every counted neighbour has acknowledged. With nobody to count nothing is dropped: the
// first neighbour may still come.
func (b *OutputBuffer) truncate() {
	if len(b.acked) == 0 {
		return
	}
	low := tuple.Position{Generation: math.MaxUint64, ID: math.MaxUint64}
	at := tuple.MaxTime
	for _, p := range b.acked {
		at = min(at, p.Time)
		if p.Compare(low) < 0 {
			low = p
		}
	}
	low.Time = at
	b.release(b.before(low))
}

// before returns how many of the oldest frames lie before p. A GAP has no place of its own: its stretch of stime may be
// acknowledged, by rows of other inputs, before anybody has heard of it. Who has acknowledged a frame behind it has. The same
// goes for a boundary, of which the acknowledgement of an input that runs ahead of others may know nothing. What is
// of a higher generation than p lies behind it, whatever its stime.
func (b *OutputBuffer) before(p tuple.Position) int {
	n := 0
	for i, f := range b.frames {
		switch {
		case f.Generation > p.Generation:
			return n
		case f.Kind == tuple.Gap:
			continue
		case f.Kind == tuple.Boundary && f.Time > p.Time:
			continue
		case f.Kind == tuple.Insertion && !p.Holds(f):
			return n
		}
		n = i + 1
	}
	return n
}

// Shed drops the oldest frames until at most limit bytes are held, if nobody is counted: it is for an output that nobody
// is known to read. Who comes later finds the newest.
func (b *OutputBuffer) Shed(limit int64) {
	if len(b.acked) > 0 {
		return
	}
	n, left := 0, b.bytes
	for ; n < len(b.frames) && left > limit; n++ {
		left -= b.held[n].size
	}
	for n > 0 && b.frames[n-1].Kind == tuple.Gap {
		n-- // nothing that is dropped behind it would tell who comes later
	}
	b.giveUp(n)
}

// drop forgets the n oldest frames, and remembers how far they went.
func (b *OutputBuffer) drop(n int) {
	for i, f := range b.frames[:n] {
		b.bytes -= b.held[i].size
		b.away -= b.held[i].away.Bytes
		if b.held[i].away.lost {
			b.holes--
		}
		if f.Kind == tuple.Insertion {
			b.lost = max(b.lost, b.latest(i).Add(1))
			if a := &b.held[i].away; a.Record != 0 {
				b.truncated.Time = max(b.truncated.Time, a.Time)
			}
		}
		if f.Kind != tuple.Gap || f.Generation > b.truncated.Generation {
			b.truncated = b.truncated.Past(f)
		}
	}
	if behind := slices.Index(b.chain, b.truncated.Generation); behind > 0 {
		b.chain, b.passed = b.chain[behind:], true
	}
	clear(b.frames[:n])
	b.frames, b.held = b.frames[n:], b.held[n:]
}

// latest returns the largest stime of the rows of an INSERTION that is held.
func (b *OutputBuffer) latest(i int) tuple.Time {
	if a := &b.held[i].away; a.Record != 0 {
		return a.Latest
	}
	return latest(b.frames[i].Batch)
}

// Seek returns the sequence number of the first frame that a subscriber at p still needs: of an older generation the rest,
// then the GAP to the next. A GAP right behind the last
// row or boundary that it has is needed: it cannot be told from one that it has heard of already, and to hear of it twice
// does no harm. Spare frames are for those who need them.
func (b *OutputBuffer) Seek(p tuple.Position) uint64 {
	if b.spare != nil && b.reachesBack(p) != nil {
		if i := seek(b.spare.frames, p); i < len(b.spare.held) {
			return b.spare.held[i].seq
		}
	}
	if i := seek(b.frames, p); i < len(b.held) {
		return b.held[i].seq
	}
	return b.next
}

// seek is Seek in some frames, and returns an index.
func seek(frames []*tuple.Frame, p tuple.Position) int {
	// The first frame from which on the next rows are new: it stands right behind the last rows that are not.
	i := sort.Search(len(frames), func(i int) bool {
		for ; i < len(frames); i++ {
			switch f := frames[i]; {
			case f.Kind == tuple.Insertion:
				return !p.Holds(f)
			case begins(f, p):
				return true
			}
		}
		return true
	})
	for k := i; k < len(frames) && frames[k].Kind != tuple.Insertion && !begins(frames[k], p); k++ {
		if frames[k].Kind == tuple.Boundary && frames[k].Time <= p.Time {
			i = k + 1
		}
	}
	return i
}

// begins reports whether a frame is the GAP that leads from the generation of p to the next.
func begins(f *tuple.Frame, p tuple.Position) bool {
	return f.Kind == tuple.Gap && p.Generation != 0 && f.Generation > p.Generation
}

// dropIdleBoundary keeps a quiet stream from filling the buffer: of many boundaries in a row only the last counts. A
// few are left, since a subscriber may be on its way through them; numbers of dropped frames are never used again.
func (b *OutputBuffer) dropIdleBoundary() {
	const most = 64
	n := len(b.frames)
	if n < most || b.frames[n-1].Kind != tuple.Boundary {
		return
	}
	for i := n - most; i < n; i++ {
		if b.frames[i].Kind != tuple.Boundary {
			return
		}
	}
	cut := n - most
	for i := cut; i < n-1; i++ {
		b.bytes -= b.held[i].size
	}
	b.frames[cut], b.held[cut] = b.frames[n-1], b.held[n-1]
	clear(b.frames[cut+1:])
	b.frames, b.held = b.frames[:cut+1], b.held[:cut+1]
}
