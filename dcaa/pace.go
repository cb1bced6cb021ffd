package dcaa

import "fednode/query/tuple"

// pace is how a boundary rises. movedAt is when it last did. ahead is how long it was ahead of its time then, in
// microseconds: so much later the next one is due. Results of windows rise by whole windows.
type pace struct {
	boundary tuple.Time
	movedAt  Instant
	ahead    int64
}

// moved notes a boundary. How far it is ahead of its time is what its age says; where nothing does, as far as it rose, more than
// an interval: it may be catching up, and then it is not ahead at all.
func (p *pace) moved(now Instant, t tuple.Time, age Age, s *Settings) {
	told := age != (Age{})
	switch {
	case t < p.boundary || t == p.boundary && !told:
		return
	case t > p.boundary:
		p.ahead = 0
		if p.boundary != tuple.MinTime {
			p.ahead = max(0, int64(t-p.boundary)-s.tick())
		}
		p.boundary, p.movedAt = t, now
	}
	if told {
		p.ahead = max(0, -age.Delay())
	}
}

// overdue reports whether the boundary has not risen for too long.
func (p *pace) overdue(now Instant, s *Settings) bool { return now > p.overdueAt(s) }

// overdueAt is until when the boundary may stay where it is.
func (p *pace) overdueAt(s *Settings) Instant {
	if p.boundary == tuple.MaxTime {
		return Never
	}
	return p.movedAt.Add(s.stall()).Add(p.ahead)
}
