package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// sessions aggregates over session windows: rows of a group that are less than gap apart. A session ends gap after its
// last row, or, where a longest length is declared, that long after its first; the row after begins another. Sessions
// that only touch stay apart. A session closes on the clock of the whole input.
//
// A session has a slot of its own in the accumulators. Rows may come in any order between boundaries when the plan is
// order-insensitive, so one row can join two sessions.
type sessions struct {
	plan   *aggregation
	args   *arguments
	emit   *emitter
	limits Limits

	gen   *generation
	cells *cells
	list  state.Array[session] // by slot of cells
	head  state.Array[uint32]  // by group: its newest session plus one
	ends  expiries             // of sessions
	live  int                  // sessions that are open
	held  int                  // groups with an open session

	boundary tuple.Time
	promised tuple.Time
	counters Counters
	checks   int

	slots  []uint32 // scratch: the session of each row
	merges []merge  // scratch: sessions that a row of the batch has joined
}

// session is one window; next links the open sessions of a group.
type session struct {
	start, last tuple.Time
	group       uint32
	next        uint32 // plus one
	open        bool
}

type merge struct{ from, to uint32 }

func newSessions(p *aggregation) *sessions {
	return &sessions{
		plan: p, args: newArguments(p), emit: newEmitter(p), limits: p.limits, gen: newGeneration(p.keyTypes()),
		cells: newCells(p), boundary: tuple.MinTime, promised: tuple.MinTime,
	}
}

// end returns where a session ends as far as is known.
func (s *sessions) end(x session) tuple.Time {
	e := x.last.Add(s.plan.window.gap)
	if m := s.plan.window.max; m > 0 {
		e = min(e, x.start.Add(m))
	}
	return e
}

func (s *sessions) Process(_ int, b *tuple.Batch, _ Out) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	s.counters.RowsIn += uint64(n)
	if first, _ := timeRange(b); first < s.boundary {
		return errBelowBoundary(first, s.boundary)
	}
	groups := s.args.groups(b, s.gen.Groups)
	s.gen.rows += int64(n)
	s.head.Grow(s.gen.Len())
	s.slots, s.merges = s.slots[:0], s.merges[:0]
	for i, g := range groups {
		s.slots = append(s.slots, s.place(g, b.Time[b.Row(i)]))
	}
	s.cells.grow(s.list.Len())
	s.args.eval(b)
	if err := s.cells.add(s.slots, s.args); err != nil {
		return s.nameGroup(err)
	}
	for _, m := range s.merges {
		if err := s.cells.merge(s.cells, []uint32{m.from}, []uint32{m.to}); err != nil {
			return s.nameGroup(err)
		}
	}
	return s.checkLimits()
}

func (s *sessions) nameGroup(err error) error {
	return s.plan.nameGroup(err, s.gen.Groups, func(slot uint32) uint32 { return s.list.Get(slot).group })
}

// place returns the session that a row of group g at t belongs to.
func (s *sessions) place(g uint32, t tuple.Time) uint32 {
	if h := s.head.Get(g); h != 0 {
		x := s.list.Get(h - 1)
		if t >= x.start && t < s.end(x) && x.next == 0 {
			if t > x.last {
				s.list.At(h - 1).last = t
			}
			return h - 1
		}
	}
	return s.placeAmong(g, t)
}

// placeAmong looks at all sessions of the group: one that the row falls in takes it, and any other that it reaches too.
func (s *sessions) placeAmong(g uint32, t tuple.Time) uint32 {
	into := state.None
	for at := s.head.Get(g); at != 0; {
		i := at - 1
		x := s.list.Get(i)
		at = x.next
		if t >= s.end(x) || x.start >= t.Add(s.plan.window.gap) {
			continue
		}
		if into == state.None {
			into = i
			p := s.list.At(i)
			p.start, p.last = min(x.start, t), max(x.last, t)
			continue
		}
		p := s.list.At(into)
		p.start, p.last = min(p.start, x.start), max(p.last, x.last)
		s.merges = append(s.merges, merge{from: i, to: into})
		s.unlink(i)
	}
	if into == state.None {
		into = s.open(session{start: t, last: t, group: g, open: true})
	}
	return into
}

func (s *sessions) open(x session) uint32 {
	x.next = s.head.Get(x.group)
	if x.next == 0 {
		s.held++
	}
	i := s.list.Append(x)
	*s.head.At(x.group) = i + 1
	s.live++
	s.ends.push(expiry{end: s.end(x), id: i})
	return i
}

// unlink ends session i: its slot is not used again.
func (s *sessions) unlink(i uint32) {
	x := s.list.Get(i)
	link := s.head.At(x.group)
	for *link != i+1 {
		link = &s.list.At(*link - 1).next
	}
	*link = x.next
	s.list.At(i).open = false
	s.live--
	if s.head.Get(x.group) == 0 {
		s.held--
	}
}

// settle brings the first of ends to an open session and its real end; ok is false when none is open.
func (s *sessions) settle() (first expiry, ok bool) {
	for s.ends.n > 0 {
		f := s.ends.first()
		x := s.list.Get(f.id)
		if !x.open {
			s.ends.pop()
			continue
		}
		if e := s.end(x); e != f.end {
			s.ends.pop()
			s.ends.push(expiry{end: e, id: f.id})
			continue
		}
		return f, true
	}
	return expiry{}, false
}

func (s *sessions) Boundary(_ int, t tuple.Time, out Out) (tuple.Time, error) {
	if t <= s.boundary {
		return s.promised, nil
	}
	s.boundary = t
	var due []uint32
	next := tuple.MaxTime
	for {
		f, ok := s.settle()
		if !ok || f.end > t {
			if ok {
				next = f.end
			}
			break
		}
		s.ends.pop()
		due = append(due, f.id)
	}
	if err := s.close(due, out); err != nil {
		return 0, err
	}
	if t == tuple.MaxTime {
		s.promised = t
		return t, nil
	}
	// The next result is that of the first session to end, or of one that begins at t.
	s.promised = max(s.promised, min(next, t.Add(s.plan.window.gap)).Add(-1))
	return s.promised, s.compact()
}

// close emits sessions in order.
func (s *sessions) close(due []uint32, out Out) error {
	slices.SortFunc(due, func(a, b uint32) int {
		x, y := s.list.Get(a), s.list.Get(b)
		if c := cmpTimes(s.end(x), s.end(y)); c != 0 {
			return c
		}
		if c := cmpTimes(x.start, y.start); c != 0 {
			return c
		}
		return s.gen.Compare(x.group, y.group)
	})
	r := results{groups: s.gen.Groups, cells: s.cells, cellSlots: due}
	for _, i := range due {
		x := s.list.Get(i)
		r.groupSlots = append(r.groupSlots, x.group)
		r.bounds = append(r.bounds, bounds{start: x.start, end: s.end(x)})
	}
	if err := s.emit.emit(r, out); err != nil {
		return err
	}
	for _, i := range due {
		s.unlink(i)
	}
	return nil
}

func cmpTimes(a, b tuple.Time) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compact gives the memory of closed sessions and stale groups back once they are the larger part.
func (s *sessions) compact() error {
	s.gen.live = s.held
	dead := s.list.Len() - s.live
	if dead <= s.live+minDead && !s.gen.outgrown(false) {
		return nil
	}
	order := s.ordered()
	var groups []uint32
	for _, i := range order {
		if g := s.list.Get(i).group; len(groups) == 0 || groups[len(groups)-1] != g {
			groups = append(groups, g)
		}
	}
	kept, moved := s.gen.Compact(groups)
	list := make([]session, len(order))
	for at, i := range order {
		list[at] = s.list.Get(i)
		list[at].group = moved[list[at].group]
	}
	c, err := s.cells.keep(order)
	if err != nil {
		return err
	}
	s.gen = &generation{Groups: kept, live: s.held}
	s.rebuild(c, list)
	return nil
}

// rebuild replaces the sessions by open ones, whose accumulators are c in the same order.
func (s *sessions) rebuild(c *cells, list []session) {
	s.cells, s.list, s.head, s.ends = c, state.Array[session]{}, state.Array[uint32]{}, expiries{}
	s.live, s.held = 0, 0
	s.head.Grow(s.gen.Len())
	for _, x := range list {
		s.open(x)
	}
}

// ordered returns the open sessions by group and start.
func (s *sessions) ordered() []uint32 {
	var all []uint32
	for i := range uint32(s.list.Len()) {
		if s.list.Get(i).open {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b uint32) int {
		x, y := s.list.Get(a), s.list.Get(b)
		if c := s.gen.Compare(x.group, y.group); c != 0 {
			return c
		}
		return cmpTimes(x.start, y.start)
	})
	return all
}
