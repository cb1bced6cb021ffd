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
// first one rose is not known, but at most by first.
func (p *pace) moved(now Instant, t tuple.Time, age Age, first int64, s *Settings) {
	told := age != (Age{})
	switch {
	case t < p.boundary || t == p.boundary && !told:
		return
	case t > p.boundary:
		p.rose, p.ahead = first, 0
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

// mostFirst is by how much a boundary may be ahead of its time where nothing is known of what came before it: windows are rarely
// longer than a day.
const mostFirst = 24 * 3600 * second

// mostAhead is by how much a boundary may be ahead of its time that is the first to be heard of a producer, or to come over a
// connection: whoever began anew could else be ahead without bound each time. The one that the consumer holds was not due before
// dueAt, and this one is so much later.
func (i *Intake) mostAhead(now Instant, t tuple.Time) int64 {
	if i.dueAt == Never {
		return mostFirst
	}
	most := max(0, int64(i.dueAt-now))
	if t > i.pos.Time {
		most += int64(min(uint64(t)-uint64(i.pos.Time), uint64(mostFirst)))
	}
	return min(most, mostFirst)
}
