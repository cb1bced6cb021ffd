package sunion

import "fednode/query/tuple"

// Gap records that an input goes on in a generation with the ids after lastID. It reports whether rows are lost by that:
// ids have been passed over, or they count anew. Then the input ends with the last bucket that is complete, and goes on with
// the one behind: what it has of that one is forgotten, since rows with those stimes may come again, and since what is handed
// on must not depend on how far the input had got beyond.
func (u *SUnion) Gap(in int, generation, lastID uint64) (lost bool) {
	i := &u.inputs[in]
	lost = generation != max(1, i.generation) || lastID > i.lastID // an input that has begun nowhere begins in the first
	if lost {
		at := u.Complete(in)
		i.cut(at)
		i.boundary, i.resumeTime = at, max(i.resumeTime, at)
	}
	i.generation, i.lastID = generation, lastID
	return lost
}

// Rename goes on in another generation, with the ids after lastID, whose rows are the same: those before the boundary are there, and
// are not taken again; those from it on come again.
func (u *SUnion) Rename(in int, generation, lastID uint64) {
	i := &u.inputs[in]
	i.cut(i.boundary)
	i.resumeTime = max(i.resumeTime, i.boundary)
	i.generation, i.lastID = generation, lastID
}

// Complete returns the end of the last bucket for which an input is complete, MinTime if there is none.
func (u *SUnion) Complete(in int) tuple.Time { return u.inputs[in].boundary.FloorTo(u.cfg.Bucket, 0) }

// Last returns the generation and the highest id that an input has been given.
func (u *SUnion) Last(in int) (generation, id uint64) {
	return u.inputs[in].generation, u.inputs[in].lastID
}

// cut forgets the waiting rows from t on.
func (i *input) cut(t tuple.Time) {
	kept := i.chunks[:0]
	i.rows, i.bytes = 0, 0
	for _, c := range i.chunks {
		if n := c.before(t); n > 0 {
			c.end(n)
			kept = append(kept, c)
			i.rows += n
			i.bytes += c.size
		}
	}
	clear(i.chunks[len(kept):])
	i.chunks = kept
}
