package sunion

import "fednode/query/tuple"

// suffix is what an input holds beyond its stable part while its producer has a failure: the Q of its stream.
type suffix struct {
	boundary tuple.Time
	chunks   []*chunk
	rows     int
	bytes    int64
	// kept is a stretch that the stable part covers and has no rows of: those of the suffix are all there will be.
	kept  stretch
	given given
}

// stretch is from an stime up to another that is not of it.
type stretch struct{ from, to tuple.Time }

// InsertTentative takes the rows of a TENTATIVE frame. The frame is owned and kept. Rows that the stable part covers are passed
// over; those of buckets that have gone to the fork are kept for the next one alone. Of more than Config.SuffixRows, or SuffixBytes,
// the oldest go, and first those that are kept for the next fork.
func (u *SUnion) InsertTentative(in int, f *tuple.Frame) {
	i := &u.inputs[in]
	c := &chunk{batch: dense(f.Batch), first: f.FirstID}
	if !ordered(c.batch.Time) {
		c.sortRows()
	}
	c.next += c.before(i.boundary)
	c.dict = i.dicts.Grown(c.batch)
	c.weigh()
	late := c.before(u.forked)
	u.keepGiven(i, c, c.next, c.next+late)
	c.next += late
	if n := c.waiting(); n > 0 {
		i.suffix.chunks = append(i.suffix.chunks, c)
		i.suffix.rows += n
		i.suffix.bytes += c.size
	}
	u.bound(i)
}

// bound drops what an input may not keep of tentative rows.
func (u *SUnion) bound(i *input) {
	s := &i.suffix
	s.shed(u.cfg.SuffixRows, u.cfg.SuffixBytes)
	s.given.shed(u.cfg.ReplayRows, u.cfg.SuffixBytes-s.bytes)
}

// shed drops the oldest chunks of more than most rows or bytes, but never the newest.
func (s *suffix) shed(most int, bytes int64) {
	for (s.rows > most || s.bytes > bytes) && len(s.chunks) > 1 {
		s.rows -= s.chunks[0].waiting()
		s.bytes -= s.chunks[0].size
		s.chunks[0] = nil
		s.chunks = s.chunks[1:]
	}
}

// keep makes chunks all that is left; they are a part of those before, in their place.
func (s *suffix) keep(chunks []*chunk) {
	clear(s.chunks[len(chunks):])
	s.chunks, s.rows, s.bytes = chunks, 0, 0
	for _, c := range chunks {
		s.rows += c.waiting()
		s.bytes += c.size
	}
}

// TentativeBoundary records that no row of the suffix below t is missing.
func (u *SUnion) TentativeBoundary(in int, t tuple.Time) {
	i := &u.inputs[in]
	i.suffix.boundary = max(i.suffix.boundary, t)
}

// TrimTentative forgets the rows of the suffix from t on.
func (u *SUnion) TrimTentative(in int, t tuple.Time) {
	s := &u.inputs[in].suffix
	s.given.trim(t)
	kept := s.chunks[:0]
	for _, c := range s.chunks {
		if n := c.before(t); n > 0 {
			c.end(n)
			kept = append(kept, c)
		}
	}
	s.keep(kept)
}

// end cuts a chunk behind its next n entries.
func (c *chunk) end(n int) {
	if n == c.waiting() {
		return
	}
	defer c.weigh()
	if c.order == nil {
		c.batch = c.batch.Slice(0, c.next+n).Clone()
		return
	}
	view := *c.batch
	view.Sel = c.order[c.next : c.next+n]
	c.batch, c.order, c.next = view.Clone(), nil, 0
}

// UndoTentative forgets the suffix of an input.
func (u *SUnion) UndoTentative(in int) {
	s := &u.inputs[in].suffix
	s.chunks, s.rows, s.bytes, s.boundary, s.kept = nil, 0, 0, tuple.MinTime, stretch{}
	s.given.forget()
}

// Keep lets the tentative rows of a stretch stay for the fork: stable ones will never come there.
func (u *SUnion) Keep(in int, from, to tuple.Time) {
	if from < to {
		u.inputs[in].suffix.kept = stretch{from, to}
	}
}

// DoneTentative forgets the suffix of an input, which the stable part has replaced, but for what is kept.
func (u *SUnion) DoneTentative(in int) {
	s := &u.inputs[in].suffix
	kept := s.kept
	if kept.from >= kept.to {
		u.UndoTentative(in)
		return
	}
	u.TrimTentative(in, kept.to)
	s.cover(tuple.MaxTime)
	s.boundary = tuple.MinTime
}

// Fork lets the tentative side begin where the stable side stands.
func (u *SUnion) Fork() { u.forked = max(u.forked, u.released) }

// Unfork ends the tentative side; the suffixes stay.
func (u *SUnion) Unfork() {
	u.forked = tuple.MinTime
	for n := range u.inputs {
		u.inputs[n].suffix.release()
		u.inputs[n].suffix.given = nothingGiven()
	}
}

// Forked returns the end of the last bucket that has gone to the fork.
func (u *SUnion) Forked() tuple.Time { return u.forked }

// Reached returns the end of the last bucket for which every input is complete, be it tentatively.
func (u *SUnion) Reached() tuple.Time {
	low := tuple.MaxTime
	for n := range u.inputs {
		low = min(low, u.InputReached(n))
	}
	return low.FloorTo(u.cfg.Bucket, 0)
}

// InputReached returns up to where an input is complete, be it tentatively.
func (u *SUnion) InputReached(in int) tuple.Time {
	i := &u.inputs[in]
	return max(i.boundary, i.suffix.boundary)
}

// ReleaseTentative hands on, in the union's order, what there is of the buckets behind Forked and before to: stable rows,
// which stay for Release, and rows of the suffixes, which go. to is a bucket's end.
func (u *SUnion) ReleaseTentative(to tuple.Time, out func(*tuple.Batch) error) error {
	if to <= u.forked {
		return nil
	}
	from := u.forked
	u.forked = to
	runs := u.one[:0]
	for n := range u.inputs {
		runs = u.inputs[n].peek(from, to, runs)
	}
	err := u.hand(runs, out)
	for n := range u.inputs {
		s := &u.inputs[n].suffix
		u.give(n, from, to)
		if s.drop(to); to >= s.kept.to {
			s.release()
		}
		u.bound(&u.inputs[n])
	}
	return err
}

// give keeps what goes to the fork of a suffix.
func (u *SUnion) give(in int, from, to tuple.Time) {
	i := &u.inputs[in]
	for _, c := range i.suffix.chunks {
		u.keepGiven(i, c, c.next+c.before(max(from, i.boundary)), c.next+c.before(to))
	}
}

// peek appends the rows with stime in [from, to) as runs: of the stable part, and of the suffix from its boundary on.
func (i *input) peek(from, to tuple.Time, runs []run) []run {
	for _, c := range i.chunks {
		runs = c.stretch(from, to, runs)
	}
	for _, c := range i.suffix.chunks {
		if k := i.suffix.kept; k.from < i.boundary {
			runs = c.stretch(max(from, k.from), min(to, k.to, i.boundary), runs)
		}
		runs = c.stretch(max(from, i.boundary), to, runs)
	}
	return runs
}

func (c *chunk) stretch(from, to tuple.Time, runs []run) []run {
	lo, hi := c.next+c.before(from), c.next+c.before(to)
	if lo >= hi {
		return runs
	}
	return append(runs, run{c: c, lo: lo, hi: hi})
}

// cover forgets rows before t, which the stable part covers, but for what is kept.
func (s *suffix) cover(t tuple.Time) { s.drop(s.covered(t)) }

// covered is before what rows are replaced once the stable part covers those before t.
func (s *suffix) covered(t tuple.Time) tuple.Time {
	if s.kept.from < s.kept.to {
		return min(t, s.kept.from)
	}
	return t
}

// release ends that a stretch is kept.
func (s *suffix) release() { s.kept = stretch{} }

// drop forgets rows before t.
func (s *suffix) drop(t tuple.Time) {
	if len(s.chunks) == 0 {
		return
	}
	kept := s.chunks[:0]
	for _, c := range s.chunks {
		c.next += c.before(t)
		if c.waiting() > 0 {
			kept = append(kept, c)
		}
	}
	s.keep(kept)
}

// Step returns a bucket's end up to which Release hands on about so many rows: Stable if that is not more, and always at
// least one bucket that has rows.
func (u *SUnion) Step(rows int) tuple.Time {
	to, total := u.Stable(), 0
	for n := range u.inputs {
		total += u.inputs[n].rows
	}
	if total <= rows {
		return to
	}
	share := max(1, rows/len(u.inputs))
	first, end := tuple.MaxTime, tuple.MaxTime
	for n := range u.inputs {
		f, l := u.inputs[n].span(share)
		first, end = min(first, f), min(end, l)
	}
	end = end.FloorTo(u.cfg.Bucket, 0)
	if first != tuple.MaxTime {
		end = max(end, first.FloorTo(u.cfg.Bucket, 0).Add(u.cfg.Bucket))
	}
	return min(to, max(end, u.released))
}

// span returns the stime of the first waiting row, and that of the row that comes so many later; MaxTime where there is
// none.
func (i *input) span(rows int) (first, last tuple.Time) {
	first = tuple.MaxTime
	for _, c := range i.chunks {
		if t := c.batch.Time[c.row(c.next)]; t < first {
			first = t
		}
		if n := c.waiting(); rows >= n {
			rows -= n
			continue
		}
		return first, c.batch.Time[c.row(c.next+rows)]
	}
	return first, tuple.MaxTime
}
