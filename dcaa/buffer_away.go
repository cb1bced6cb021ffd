package dcaa

import (
	"slices"
	"sort"

	"fednode/query/tuple"
)

// Away says where frames are that an OutputBuffer does not hold in memory, and what it has to know of them.
type Away struct {
	// Record names them there; those of later frames have higher names. 0 stands for memory.
	Record uint64
	// Bytes is what they take there.
	Bytes int64
	// Time is their last boundary, Latest the largest stime of their rows; MinTime if there is none.
	Time, Latest tuple.Time
	// first is the number of the first of them; the number of the entry is that of the last.
	first uint64
	// lost: they cannot be had any more. The entry stays, as a hole.
	lost bool
}

// Held is an entry of an OutputBuffer: a frame, or what stands for several frames of one generation that are away, an
// INSERTION with their ids and without a batch.
type Held struct {
	Frame *tuple.Frame
	Away  Away
}

// Lost returns the end of the stretch of stime in which the rows of an entry lie; MinTime if it has none.
func (h Held) Lost() tuple.Time {
	switch {
	case h.Away.Record != 0:
		return max(h.Away.Time, h.Away.Latest.Add(1))
	case h.Frame.Kind == tuple.Insertion:
		return latest(h.Frame.Batch).Add(1)
	}
	return tuple.MinTime
}

// Stretch is some frames of one generation that stand in memory one behind the other.
type Stretch struct {
	Frames      []*tuple.Frame
	first, last uint64 // their numbers
}

// Oldest returns the oldest frames in memory that may be put elsewhere, INSERTIONs and BOUNDARYs of about so many bytes, or
// of what there is; ok is false if there are none. GAPs stay, and the last boundary: whoever has all rows before it may wait
// for nothing else.
func (b *OutputBuffer) Oldest(size int64) (s Stretch, ok bool) {
	end := len(b.frames) - 1
	for end >= 0 && b.frames[end].Kind != tuple.Boundary {
		end--
	}
	for i := 0; i < end; i++ {
		if b.held[i].away.Record != 0 || b.frames[i].Kind == tuple.Gap {
			continue
		}
		n, rows := b.stretch(i, end, size)
		if rows {
			return Stretch{Frames: append([]*tuple.Frame(nil), b.frames[i:n]...), first: b.held[i].seq, last: b.held[n-1].seq}, true
		}
		i = n - 1
	}
	return s, false
}

// stretch returns the end of the stretch that begins at i, and whether there are rows in it.
func (b *OutputBuffer) stretch(i, end int, size int64) (n int, rows bool) {
	for n = i; n < end && size > 0; n++ {
		f := b.frames[n]
		if b.held[n].away.Record != 0 || f.Kind == tuple.Gap || f.Generation != b.frames[i].Generation {
			break
		}
		size -= b.held[n].size
		rows = rows || f.Kind == tuple.Insertion
	}
	return max(n, i+1), rows
}

// Evict lets the first n frames of a stretch go from memory: they are in a record elsewhere, where they take so many bytes.
// It does nothing, and says so, if they have been dropped meanwhile, or none of them has rows.
func (b *OutputBuffer) Evict(s Stretch, n int, record uint64, bytes int64) bool {
	i := sort.Search(len(b.held), func(i int) bool { return b.held[i].seq >= s.first })
	if n == 0 || i+n > len(b.held) || b.held[i].seq != s.first || b.frames[i] != s.Frames[0] || b.frames[i+n-1] != s.Frames[n-1] {
		return false
	}
	stub, a := standIn(s.Frames[:n])
	if stub.LastID == 0 {
		return false
	}
	a.Record, a.Bytes, a.first = record, bytes, s.first
	for k := range n {
		b.bytes -= b.held[i+k].size
	}
	h := holding{seq: b.held[i+n-1].seq, size: FrameBytes(stub), away: a}
	b.bytes += h.size
	b.away += bytes
	b.frames[i], b.held[i] = stub, h
	b.frames, b.held = slices.Delete(b.frames, i+1, i+n), slices.Delete(b.held, i+1, i+n)
	return true
}

// standIn returns what stands for frames that are away, without rows: ids from 0 to 0 if they have none.
func standIn(frames []*tuple.Frame) (stub *tuple.Frame, a Away) {
	a.Time, a.Latest = tuple.MinTime, tuple.MinTime
	stub = &tuple.Frame{Kind: tuple.Insertion, Generation: frames[0].Generation}
	for _, f := range frames {
		if f.Kind == tuple.Boundary {
			a.Time = max(a.Time, f.Time)
			continue
		}
		if stub.FirstID == 0 {
			stub.FirstID = f.FirstID
		}
		stub.LastID = f.LastID
		a.Latest = max(a.Latest, latest(f.Batch))
	}
	return stub, a
}

// Restore adds an entry of a buffer that stood before a restart.
func (b *OutputBuffer) Restore(h Held) {
	if h.Away.Record == 0 {
		b.Append(h.Frame)
		return
	}
	h.Away.first, h.Away.lost = b.next, false // it shows again when it is read
	b.away += h.Away.Bytes
	b.hold(h.Frame, h.Away)
	b.truncate()
}

// Held returns the entries in order; the caller does not change frames.
func (b *OutputBuffer) Held() []Held {
	out := make([]Held, len(b.frames))
	for i, f := range b.frames {
		out[i] = Held{Frame: f, Away: b.held[i].away}
	}
	return out
}

// AwayAt returns the record of the frames that the entry with a number stands for, and the number of the first of them; 0 if
// it is a frame.
func (b *OutputBuffer) AwayAt(seq uint64) (record, first uint64) {
	i := sort.Search(len(b.held), func(i int) bool { return b.held[i].seq >= seq })
	if i == len(b.held) || b.held[i].seq != seq {
		return 0, 0
	}
	return b.held[i].away.Record, b.held[i].away.first
}

// FirstAway returns the oldest record that is still needed; 0 if there is none.
func (b *OutputBuffer) FirstAway() uint64 {
	for i := range b.held {
		if r := b.held[i].away.Record; r != 0 {
			return r
		}
	}
	return 0
}

// Lose notes that the frames of a record cannot be had any more. Those before it and behind it still can: who comes to the hole
// is told that rows are gone, and how far.
func (b *OutputBuffer) Lose(record uint64) {
	for i := range b.held {
		if a := &b.held[i].away; a.Record == record && !a.lost {
			a.lost = true
			b.holes++
		}
	}
}

// hole returns the place behind the hole that a position stands at, ok is false if it stands at none. What follows in the
// generation of the position is rows that are gone: a boundary or a GAP before them changes nothing for who has to skip them.
// Holes with no rows between them are one.
func (b *OutputBuffer) hole(from tuple.Position) (end tuple.Position, ok bool) {
	if b.holes == 0 {
		return end, false
	}
	for i := seek(b.frames, from); i < len(b.frames) && !begins(b.frames[i], from); i++ {
		f, a := b.frames[i], &b.held[i].away
		switch {
		case f.Kind != tuple.Insertion:
			continue
		case !a.lost || ok && f.Generation != end.Generation:
			return end, ok
		}
		end = tuple.Position{Generation: f.Generation, ID: f.LastID, Time: max(end.Time, a.Time, a.Latest.Add(1))}
		from, ok = tuple.Position{Generation: f.Generation, ID: f.LastID, Time: from.Time}, true
	}
	return end, ok
}

// AwayBytes returns what is held elsewhere.
func (b *OutputBuffer) AwayBytes() int64 { return b.away }

// Behind returns how many bytes, in memory and elsewhere, a position does not cover.
func (b *OutputBuffer) Behind(p tuple.Position) int64 {
	sum := int64(0)
	for i := b.before(p); i < len(b.held); i++ {
		sum += b.held[i].size + b.held[i].away.Bytes
	}
	return sum
}
