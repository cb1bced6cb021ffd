package dcaa

import "fednode/query/tuple"

// pace is how a boundary rises. movedAt is when it last did, and rose by how much. ahead is how long it was ahead of its time
// then: so much later the next one is due. Results of windows rise by whole windows. Microseconds.
type pace struct {
	boundary tuple.Time
	movedAt  Instant
	rose     int64
	ahead    int64
}

// moved notes a boundary. How far it is ahead of its time is what its age says; where nothing does, as far as it rose, more than
// an interval: it may be catching up, and then it is not ahead at all. More than it rose it is not believed to be ahead: the one
// before was due by then, and whoever says otherwise would not be taken for stalled for as long as it likes. By how much the
// first one rose is not known.
func (p *pace) moved(now Instant, t tuple.Time, age Age, s *Settings) {
	told := age != (Age{})
	switch {
	case t < p.boundary || t == p.boundary && !told:
		return
	case t > p.boundary:
		p.rose, p.ahead = MostAge, 0
		if p.boundary != tuple.MinTime {
			p.rose = max(0, int64(t-p.boundary))
			p.ahead = max(0, p.rose-s.tick())
		}
		p.boundary, p.movedAt = t, now
	}
	if told {
		p.ahead = min(max(0, -age.Delay()), p.rose)
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
