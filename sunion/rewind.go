package sunion

import "fednode/query/tuple"

// given is what has gone to the fork of a suffix that the stable part does not cover: another fork that begins at the stable
// side needs it again. Of more than Config.ReplayRows the oldest go, and of more than what the suffix leaves of Config.SuffixBytes.
type given struct {
	chunks []*chunk
	rows   int
	bytes  int64
	// lost: of rows before it some are not here any more.
	lost tuple.Time
	// torn: the suffix has been given up since, and what another brings of the same stretch need not be here yet.
	torn bool
}

// nothingGiven is what a fork begins with.
func nothingGiven() given { return given{lost: tuple.MinTime} }

// keepGiven keeps entries of a chunk that go to the fork, if there is to be another.
func (u *SUnion) keepGiven(i *input, c *chunk, lo, hi int) {
	if lo >= hi || u.cfg.ReplayRows == 0 {
		return
	}
	g, p := &i.suffix.given, c.part(lo, hi)
	g.chunks = append(g.chunks, p)
	g.rows += hi - lo
	g.bytes += p.size
}

// shed drops the oldest of more than most rows or bytes.
func (g *given) shed(most int, bytes int64) {
	for g.rows > most || g.bytes > bytes && len(g.chunks) > 0 {
		first := g.chunks[0]
		g.rows -= first.waiting()
		g.bytes -= first.size
		g.lost = max(g.lost, first.batch.Time[first.row(len(first.batch.Time)-1)].Add(1))
		g.chunks[0] = nil
		g.chunks = g.chunks[1:]
	}
}

// part is a chunk of its own of the entries [lo, hi). What shares memory with others is counted by its share.
func (c *chunk) part(lo, hi int) *chunk {
	share := func(size int64) int64 { return size * int64(hi-lo) / int64(len(c.batch.Time)) }
	switch {
	case lo == 0 && hi == len(c.batch.Time):
		return &chunk{batch: c.batch, size: c.size, dict: c.dict, order: c.order, first: c.first}
	case c.order == nil:
		return &chunk{batch: c.batch.Slice(lo, hi), size: share(c.size) + 1, dict: share(c.dict), first: c.first}
	}
	view := *c.batch
	view.Sel = c.order[lo:hi]
	p := &chunk{batch: view.Clone(), dict: share(c.dict), first: c.first}
	p.weigh()
	return p
}

// trim forgets rows from t on: they come again.
func (g *given) trim(t tuple.Time) {
	kept := g.chunks[:0]
	g.bytes = 0
	for _, c := range g.chunks {
		n := c.before(t)
		g.rows -= c.waiting() - n
		if n > 0 {
			c.end(n)
			kept = append(kept, c)
			g.bytes += c.size
		}
	}
	clear(g.chunks[len(kept):])
	g.chunks = kept
}

// behind returns how many rows there are from t on.
func (g *given) behind(t tuple.Time) (rows int) {
	for _, c := range g.chunks {
		rows += c.waiting() - c.before(t)
	}
	return rows
}

// forget ends a suffix that the fork has been given a part of.
func (g *given) forget() {
	torn := g.torn || g.rows > 0 || g.lost > tuple.MinTime
	*g = nothingGiven()
	g.torn = torn
}

// Replay returns how many rows Rewind would lead to being handed on again. ok is false if not all is there that the fork has
// been given, and the stable side has not replaced.
func (u *SUnion) Replay() (rows int, ok bool) {
	for n := range u.inputs {
		i := &u.inputs[n]
		g := &i.suffix.given
		if g.lost > max(i.boundary, u.released) || g.torn && u.InputReached(n) < u.forked {
			return 0, false
		}
		for _, c := range i.chunks {
			rows += c.before(u.forked)
		}
		rows += g.behind(i.suffix.covered(i.boundary))
	}
	return rows, true
}

// Rewind lets the tentative side begin again where the stable side stands, for another fork.
func (u *SUnion) Rewind() {
	u.forked = u.released
	for n := range u.inputs {
		i := &u.inputs[n]
		s := &i.suffix
		s.chunks, s.rows, s.bytes = append(s.given.chunks, s.chunks...), s.rows+s.given.rows, s.bytes+s.given.bytes
		s.given = nothingGiven()
		s.cover(i.boundary)
	}
}
