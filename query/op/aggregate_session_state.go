package op

import "fednode/query/tuple"

// Snapshot writes the open sessions by group and start.
func (s *sessions) Snapshot(e *tuple.Encoder) {
	e.Time(s.boundary)
	e.Time(s.promised)
	order := s.ordered()
	var groups, place []uint32
	starts, lasts := make([]tuple.Time, len(order)), make([]tuple.Time, len(order))
	for at, i := range order {
		x := s.list.Get(i)
		if len(groups) == 0 || groups[len(groups)-1] != x.group {
			groups = append(groups, x.group)
		}
		place = append(place, uint32(len(groups)-1))
		starts[at], lasts[at] = x.start, x.last
	}
	s.gen.Snapshot(e, groups)
	e.Uint32s(place)
	e.Times(starts)
	e.Times(lasts)
	s.cells.snapshot(e, order)
}

// Restore reads what Snapshot wrote.
func (s *sessions) Restore(d *tuple.Decoder) {
	s.boundary, s.promised = d.Time(), d.Time()
	groups := s.gen.Restore(d)
	place, starts, lasts := d.Uint32s(), d.Times(), d.Times()
	if d.Err() == nil && (len(starts) != len(place) || len(lasts) != len(place)) {
		d.Fail("%d sessions with %d starts and %d ends", len(place), len(starts), len(lasts))
	}
	list := make([]session, len(place))
	for i, g := range place {
		if int(g) >= groups {
			d.Fail("session of group %d of %d", g, groups)
		}
		if d.Err() != nil {
			return
		}
		list[i] = session{start: starts[i], last: lasts[i], group: g, open: true}
	}
	c := newCells(s.plan)
	c.restore(d, len(list))
	if d.Err() == nil {
		s.rebuild(c, list)
	}
}

// Fork shares all tables page by page.
func (s *sessions) Fork() Operator {
	f := newSessions(s.plan)
	f.limits, f.gen, f.cells, f.list, f.head = s.limits, s.gen.fork(), s.cells.fork(), s.list.Fork(), s.head.Fork()
	f.ends, f.live, f.held, f.boundary, f.promised = s.ends.fork(), s.live, s.held, s.boundary, s.promised
	return f
}

// SetLimits lowers the limits of the declaration.
func (s *sessions) SetLimits(l Limits) { s.limits = s.plan.limits.lower(l) }

func (s *sessions) checkLimits() error {
	if l := s.limits.Groups; l > 0 && int64(s.held) > l {
		return &LimitError{What: "groups", Limit: l}
	}
	if s.checks++; s.limits.StateBytes > 0 && s.checks&15 == 0 && s.StateBytes() > s.limits.StateBytes {
		return &LimitError{What: "state bytes", Limit: s.limits.StateBytes}
	}
	return nil
}

// StateBytes sums all tables.
func (s *sessions) StateBytes() int64 {
	return s.gen.Bytes() + s.cells.bytes() + s.list.Bytes() + s.head.Bytes() + s.ends.heap.Bytes()
}

// Counters returns the totals.
func (s *sessions) Counters() Counters { return s.emit.counters(s.args.counters(s.counters)) }
