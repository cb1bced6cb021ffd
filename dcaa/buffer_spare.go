package dcaa

import "fednode/query/tuple"

// KeepSpare makes the buffer keep the newest acknowledged frames, of at most so many bytes, for readers that are not
// counted: those may be a little behind the ones that acknowledge. Spare frames are no part of what is held: not of Bytes,
// Len, Held or Truncated.
func (b *OutputBuffer) KeepSpare(bytes int64) {
	b.spare, b.spareLimit = new(OutputBuffer), max(0, bytes)
	b.DropSpare()
}

// DropSpare forgets the spare frames. Others may become spare later.
func (b *OutputBuffer) DropSpare() {
	if b.spare != nil {
		*b.spare = OutputBuffer{chain: []uint64{b.truncated.Generation}, truncated: b.truncated, lost: b.lost, passed: b.passed}
	}
}

// SpareBytes returns the memory that spare frames take.
func (b *OutputBuffer) SpareBytes() int64 {
	if b.spare == nil {
		return 0
	}
	return b.spare.bytes
}

// SpareReaches is Reaches for a reader that is not counted: it fails if rows behind a position are neither held nor spare.
func (b *OutputBuffer) SpareReaches(from tuple.Position) error {
	if b.spare != nil && b.reachesBack(from) != nil {
		return b.spare.Reaches(from)
	}
	return b.Reaches(from)
}

// release drops the n oldest frames, which are acknowledged. What was in memory of them becomes spare; what is away is about
// to be freed there.
func (b *OutputBuffer) release(n int) {
	if b.spare == nil {
		b.drop(n)
		return
	}
	away := n
	for away > 0 && b.held[away-1].away.Record == 0 {
		away--
	}
	if away > 0 {
		b.drop(away)
		b.DropSpare()
	}
	n -= away
	for i, f := range b.frames[:n] {
		b.spare.keep(f, b.held[i])
	}
	b.drop(n)
	b.spare.Shed(b.spareLimit)
}

// giveUp drops the n oldest frames, acknowledged or not. What is spare lies before them: it leads nobody on any more.
func (b *OutputBuffer) giveUp(n int) {
	if n > 0 {
		b.drop(n)
		b.DropSpare()
	}
}

// keep adds a frame to what is spare, under its number. Of boundaries in a row the last counts.
func (b *OutputBuffer) keep(f *tuple.Frame, h holding) {
	if n := len(b.frames); n > 0 && f.Kind == tuple.Boundary && b.frames[n-1].Kind == tuple.Boundary {
		b.frames[n-1], b.held[n-1] = f, h
		return
	}
	b.frames, b.held = append(b.frames, f), append(b.held, h)
	b.bytes += h.size
	if f.Generation > b.chain[len(b.chain)-1] {
		b.chain = append(b.chain, f.Generation)
	}
}
