package dcaa

import "fednode/query/tuple"

// GiveUp drops about so many bytes of the oldest entries, acknowledged or not, but none with rows or boundaries at or past
// keep; who needs them is told that they are gone. It reports whether anything was dropped.
func (b *OutputBuffer) GiveUp(size int64, keep tuple.Time) bool {
	n := 0
	for ; n < len(b.frames) && size > 0 && b.reaches(n) < keep; n++ {
		size -= b.held[n].size + b.held[n].away.Bytes
	}
	for n > 0 && b.frames[n-1].Kind == tuple.Gap {
		n-- // nothing that is dropped behind it would tell who comes later
	}
	b.giveUp(n)
	return n > 0
}

// reaches returns the largest stime of an entry: of its rows or of a boundary. A GAP has none of its own.
func (b *OutputBuffer) reaches(n int) tuple.Time {
	switch f := b.frames[n]; f.Kind {
	case tuple.Insertion:
		return max(b.latest(n), b.held[n].away.Time)
	case tuple.Boundary:
		return f.Time
	}
	return tuple.MinTime
}
