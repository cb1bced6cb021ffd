package dcaa

import "fednode/query/tuple"

// pace is how a boundary rises. movedAt is when it last did. ahead is how long it was ahead of its time then, in
// microseconds: so much later the next one is due. Results of windows rise by whole windows.
type pace struct {
	boundary tuple.Time
	movedAt  Instant
	ahead    int64
}

// moved notes a boundary. ahead is what is known of how far it is ahead of its time; else it is as far as it rose, more than
// an interval.
func (p *pace) moved(now Instant, t tuple.Time, ahead int64, s *Settings) {
	switch {
	case t == p.boundary:
		p.ahead = max(p.ahead, ahead)
		return
	case t < p.boundary:
		return
	case p.boundary != tuple.MinTime:
		ahead = max(ahead, int64(t-p.boundary)-s.tick())
	}
	p.boundary, p.movedAt, p.ahead = t, now, max(0, ahead)
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
