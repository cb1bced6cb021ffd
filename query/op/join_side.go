package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// joinSide finds the rows of one side of a join by their keys. Rows of a bucket form a chain from the newest to the
// oldest, so what has been dropped from the log is never reached and needs no removal.
type joinSide struct {
	log  *rowLog // rows kept; also those that are not in the index yet
	keys []int
	// windows is how many keys are left out of the hash: rows of one stime rarely differ in their window.
	windows int
	hash    []uint64           // scratch
	heads   state.Array[int64] // per bucket: position + 1 of the newest row, 0 if empty
	mask    uint64
	// Chunks that run along the log's chunks.
	chunks []*sideChunk
	owned  []bool // not shared with a fork
	base   int64
	done   int64 // rows before it are in the index
}

// sideChunk is what the index knows of chunkRows rows.
type sideChunk struct {
	hash    [chunkRows]uint64
	older   [chunkRows]int64 // position + 1 of the next row of the bucket
	matched [chunkRows]bool
}

func newJoinSide(log *rowLog, d *joinDecl, side int) *joinSide {
	s := &joinSide{log: log, keys: d.keys[side]}
	if d.same {
		s.windows = 2
	}
	return s
}

// chunk returns the chunk that holds a position, which is in the index.
func (s *joinSide) chunk(pos int64) *sideChunk { return s.chunks[(pos-s.base)/chunkRows] }

func (s *joinSide) ownChunk(pos int64) *sideChunk {
	i := (pos - s.base) / chunkRows
	if int(i) == len(s.chunks) {
		s.chunks, s.owned = append(s.chunks, new(sideChunk)), append(s.owned, true)
	}
	if !s.owned[i] {
		c := *s.chunks[i]
		s.chunks[i], s.owned[i] = &c, true
	}
	return s.chunks[i]
}

// insert adds the row at the next position to the index, under the hash of its key; 0 means that the key has a null,
// which matches nothing.
func (s *joinSide) insert(hash uint64) {
	pos := s.done
	s.done++
	c, i := s.ownChunk(pos), pos%chunkRows
	c.hash[i], c.older[i], c.matched[i] = hash, 0, false
	if hash == 0 {
		return
	}
	if uint64(s.done-s.log.first) > s.mask {
		s.grow()
		return
	}
	s.link(c, pos)
}

func (s *joinSide) link(c *sideChunk, pos int64) {
	head := s.heads.At(uint32(c.hash[pos%chunkRows] & s.mask))
	c.older[pos%chunkRows] = *head
	*head = pos + 1
}

// grow rebuilds the index with room for twice the rows.
func (s *joinSide) grow() {
	size := 64
	for size < 2*int(s.done-s.log.first) {
		size *= 2
	}
	s.heads = state.Array[int64]{}
	s.heads.Grow(size)
	s.mask = uint64(size - 1)
	for pos := s.log.first; pos < s.done; pos++ {
		if c := s.ownChunk(pos); c.hash[pos%chunkRows] != 0 {
			s.link(c, pos)
		}
	}
}

// first returns the newest row of a hash's bucket, -1 if there is none.
func (s *joinSide) first(hash uint64) int64 {
	if s.heads.Len() == 0 {
		return -1
	}
	return s.live(s.heads.Get(uint32(hash & s.mask)))
}

// after returns the next older row of the bucket, -1 at the end.
func (s *joinSide) after(pos int64) int64 { return s.live(s.chunk(pos).older[pos%chunkRows]) }

func (s *joinSide) live(link int64) int64 {
	if link <= s.log.first {
		return -1
	}
	return link - 1
}

func (s *joinSide) matched(pos int64) bool { return s.chunk(pos).matched[pos%chunkRows] }

func (s *joinSide) match(pos int64) {
	if !s.matched(pos) {
		s.ownChunk(pos).matched[pos%chunkRows] = true
	}
}

// drop forgets the rows before a position.
func (s *joinSide) drop(to int64) {
	s.log.drop(to)
	if n := int((s.log.base - s.base) / chunkRows); n > 0 {
		n = min(n, len(s.chunks))
		s.chunks = append(make([]*sideChunk, 0, len(s.chunks)-n+1), s.chunks[n:]...)
		s.owned = append(make([]bool, 0, len(s.owned)-n+1), s.owned[n:]...)
		s.base = s.log.base
	}
}

// hashes returns the hash of the key of each row [lo, hi) of a batch of this side, 0 where the key has a null. Borrowed
// until the next call.
func (s *joinSide) hashes(b *tuple.Batch, lo, hi int) []uint64 {
	n := hi - lo
	s.hash = slices.Grow(s.hash[:0], n)[:n]
	for i := range s.hash {
		s.hash[i] = 1
	}
	for _, k := range s.keys[s.windows:] {
		hashColumn(s.hash, &b.Cols[k], lo)
	}
	for _, k := range s.keys {
		if v := b.Cols[k].Valid; v != nil {
			for i, ok := range v[lo:hi] {
				if !ok {
					s.hash[i] = 0
				}
			}
		}
	}
	return s.hash
}

// hashColumn folds the rows of c from row lo on into hashes that are not 0, and keeps them so. Equal values fold alike
// whatever the encoding; what nulls do does not matter.
func hashColumn(h []uint64, c *tuple.Column, lo int) {
	switch k := c.Type.Kind; {
	case k.IsInt():
		for i, v := range c.Int[lo : lo+len(h)] {
			h[i] = tuple.Mix64(h[i]^uint64(v)) | 1<<63
		}
	case k.IsBinary():
		for i, code := range c.Code[lo : lo+len(h)] {
			if !c.IsNull(lo + i) {
				h[i] = tuple.Mix64(h[i]^tuple.HashBytes(c.Dict.At(code))) | 1<<63
			}
		}
	default:
		for i := range h {
			h[i] = c.HashInto(h[i], lo+i) | 1<<63
		}
	}
}

// sameKey reports whether row i of a batch of this side and the row at a position of the other have equal keys.
func (s *joinSide) sameKey(b *tuple.Batch, i int, other *joinSide, pos int64) bool {
	o, j := other.log.at(pos)
	for k, c := range s.keys {
		if b.Cols[c].Compare(i, &o.Cols[other.keys[k]], j) != 0 {
			return false
		}
	}
	return true
}

func (s *joinSide) fork(log *rowLog) *joinSide {
	f := *s
	f.log, f.hash = log, nil
	f.heads = s.heads.Fork()
	clear(s.owned)
	f.owned = make([]bool, len(s.owned))
	f.chunks = append([]*sideChunk(nil), s.chunks...)
	return &f
}

func (s *joinSide) bytes() int64 { return s.heads.Bytes() + int64(len(s.chunks))*17*chunkRows }

// snapshot appends which rows of the index have been matched; everything else follows from the rows.
func (s *joinSide) snapshot(e *tuple.Encoder) {
	var flags []bool // nil if there is none, the usual case
	for pos := s.log.first; pos < s.done; pos++ {
		if s.matched(pos) {
			if flags == nil {
				flags = make([]bool, s.done-s.log.first)
			}
			flags[pos-s.log.first] = true
		}
	}
	e.Bools(flags)
}

// restore rebuilds the index over the log's rows handed on so far.
func (s *joinSide) restore(d *tuple.Decoder, done int64) {
	flags := d.Bools()
	if flags != nil && int64(len(flags)) != done {
		d.Fail("%d match flags for %d rows", len(flags), done)
		return
	}
	for pos := int64(0); pos < done; {
		b, lo, hi := s.log.run(pos, done)
		for _, h := range s.hashes(b, lo, hi) {
			s.insert(h)
			if flags != nil && flags[pos] {
				s.match(pos)
			}
			pos++
		}
	}
}
