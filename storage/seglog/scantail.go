package seglog

import (
	"fednode/query/tuple"
	"fednode/storage/disk"
)

// hole is a stretch of a segment without true records, and the state of the scan before it.
type hole struct {
	off, bytes int64
	before     segment // as it stood at the hole; its index is cut by length
	next       frame   // the first true record after it
	found      bool    // there is one
	good       uint64  // true records before the hole
}

// survey is what a scan of a whole segment file found.
type survey struct {
	holes   []hole
	durable uint64 // the largest seq known to have been durable
	good    uint64
}

// extent limits a scan: to the bytes of the file, and to the seqs that belong to the segment.
type extent struct {
	size    int64
	lastSeq uint64
}

// scanSegment walks the file of s and fills what s says about its content.
func scanSegment(s *segment, f disk.File, seed uint32, x extent) (survey, error) {
	s.end, s.lastSeq, s.lastKey, s.maxTime, s.index = headerBytes, s.firstSeq-1, s.startKey, tuple.MinTime, nil
	v := survey{durable: s.firstSeq - 1}
	c := s.cursorAt(f, seed, place{seq: s.firstSeq, off: headerBytes})
	c.end = x.size
	for {
		off := c.off
		rec, _, ok, err := c.step()
		if err != nil {
			return v, err
		}
		if ok && rec.seq > x.lastSeq {
			return v, nil // written by an append that did not succeed
		}
		if ok {
			v.take(s, rec, off, c.off)
			continue
		}
		if c.filled == 0 {
			if c.filled, err = c.lastNonZero(); err != nil {
				return v, err
			}
		}
		if c.off >= c.filled {
			return v, nil
		}
		h := hole{off: c.off, before: *s, good: v.good}
		if h.next, h.found, err = c.resync(); err != nil {
			return v, err
		}
		h.bytes = min(c.off, c.filled) - h.off
		v.holes = append(v.holes, h)
		if !h.found {
			return v, nil
		}
	}
}

func (v *survey) take(s *segment, rec frame, off, end int64) {
	v.durable = max(v.durable, rec.durable)
	s.end, s.lastSeq, s.lastKey = end, rec.seq, rec.key
	if rec.mark {
		return
	}
	v.good++
	s.maxTime = max(s.maxTime, rec.time)
	s.note(rec, off)
}

// tear returns the first hole in which records are missing that were not durable: an interrupted write, or the damaged
// end of the log. Every hole before it is damage in the middle. n is len(holes) if there is none.
func (v *survey) tear() int {
	for n, h := range v.holes {
		if !h.found || h.next.before() > v.durable {
			return n
		}
	}
	return len(v.holes)
}

// damage describes a hole in the middle.
func (h *hole) damage() *Damage {
	return &Damage{Path: h.before.path, Offset: h.off, Bytes: h.bytes, Records: h.next.before() - h.before.lastSeq,
		After: h.before.last(), Before: Position{h.before.generation, h.next.key}}
}

// cut takes the segment back to the tear and says what that cuts.
func (v *survey) cut(s *segment, h *hole) *Cut {
	c := &Cut{Path: s.path, Offset: h.off, Bytes: h.bytes, After: h.before.last(), Last: h.before.last(), Records: v.good - h.good}
	if c.Records > 0 {
		c.Bytes, c.Last = s.end-h.off, s.last()
	}
	if v.durable > h.before.lastSeq {
		c.Acknowledged = v.durable - h.before.lastSeq
	}
	index := s.index[:len(h.before.index)]
	*s = h.before
	s.index = index
	return c
}
