package seglog

import (
	"errors"
	"math"
	"os"

	"fednode/storage/disk"
)

// assemble turns the files into the chain of segments. whole says that the last one may be continued.
func (r *recoverer) assemble(id Identity) (whole bool, err error) {
	for i := range r.files {
		c := &r.files[i]
		s := r.expect(c, id)
		if i == len(r.files)-1 {
			whole, err = r.takeLast(c, s, id)
		} else {
			err = r.takeInner(c, s, &r.files[i+1], id)
		}
		if err != nil {
			return false, err
		}
	}
	return whole, nil
}

// expect is what is known of a file before its content: from its header, or else from the segment before.
func (r *recoverer) expect(c *candidate, id Identity) *segment {
	s := &segment{path: c.path, firstSeq: c.firstSeq, generation: c.head.Generation, startKey: c.head.StartKey}
	if c.bad == nil {
		return s
	}
	s.generation, s.startKey = id.Generation, 0
	if n := len(r.segs); n > 0 {
		s.generation, s.startKey = r.segs[n-1].generation, r.segs[n-1].lastKey
	}
	return s
}

// takeInner takes a segment that has a successor. Where that one says how this one ended, no scan is needed.
func (r *recoverer) takeInner(c *candidate, s *segment, next *candidate, id Identity) error {
	if c.bad == nil && next.bad == nil && next.head.Prev.FirstSeq == s.firstSeq && next.head.FirstSeq >= s.firstSeq {
		p := next.head.Prev
		s.end, s.lastSeq, s.lastKey, s.maxTime = p.End, next.head.FirstSeq-1, p.Key, p.MaxTime
		r.add(s)
		return nil
	}
	v, err := r.scan(s, id, next.firstSeq-1)
	if err != nil {
		return err
	}
	if c.bad != nil && v.good == 0 {
		return r.setAside(s.path, c.bad.Error())
	}
	for i := range v.holes {
		if h := &v.holes[i]; h.found {
			r.report.Damage = append(r.report.Damage, h.damage())
		}
	}
	r.add(s)
	return nil
}

// takeLast scans the newest segment and cuts its torn end.
func (r *recoverer) takeLast(c *candidate, s *segment, id Identity) (whole bool, err error) {
	v, err := r.scan(s, id, math.MaxUint64)
	if err != nil {
		return false, err
	}
	if c.bad != nil && v.good == 0 {
		return false, r.setAside(s.path, c.bad.Error())
	}
	n := v.tear()
	for i := range v.holes[:n] {
		r.report.Damage = append(r.report.Damage, v.holes[i].damage())
	}
	if n < len(v.holes) {
		r.report.Cut = v.cut(s, &v.holes[n])
		if s.records() == 0 {
			// The next segment will have this one's name: the bytes that were cut go out of its way.
			err := r.setAside(s.path, "nothing before its torn end")
			return false, err
		}
	}
	s.indexed = true
	r.add(s)
	return r.report.Cut == nil && c.bad == nil && s.generation == id.Generation, nil
}

func (r *recoverer) scan(s *segment, id Identity, lastSeq uint64) (survey, error) {
	f, err := r.opts.OpenFile(s.path, os.O_RDONLY)
	if err != nil {
		return survey{}, disk.Wrap("open", s.path, err)
	}
	size, err := f.Size()
	var v survey
	if err == nil {
		v, err = scanSegment(s, f, seed(id.Log), extent{size: size, lastSeq: lastSeq})
	}
	return v, errors.Join(disk.Wrap("scan", s.path, err), f.Close())
}

// add appends a segment to the chain, and reports what is missing between it and the one before.
func (r *recoverer) add(s *segment) {
	if n := len(r.segs); n > 0 {
		prev := r.segs[n-1]
		if lost := s.firstSeq - 1 - prev.lastSeq; lost > 0 {
			r.report.Damage = append(r.report.Damage, &Damage{Path: prev.path, Offset: prev.end, Records: lost,
				After: prev.last(), Before: Position{s.generation, s.startKey}})
		}
	}
	r.segs = append(r.segs, s)
}
