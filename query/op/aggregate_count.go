package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// counted aggregates over windows of a number of rows of each group. A window [start, end) goes from its first row to
// just after its last one. Rows are folded into slices of the greatest common divisor of count and every; a window
// combines its slices when the last of them is full. An unfinished window yields nothing.
//
// A slice has a slot of its own in the accumulators, and so has a finished window until the boundary passes its stime.
type counted struct {
	plan    *aggregation
	args    *arguments
	emit    *emitter
	limits  Limits
	slice   int64 // rows of a slice
	slices  int64 // of a window
	perStep int64 // slices from one window to the next

	gen    *generation
	cells  *cells
	list   state.Array[countSlice] // by slot of cells
	queues state.Array[queue]      // by group
	idle   expiries                // groups, where ttl is declared
	live   int                     // slots in use
	held   int                     // groups with rows
	ready  []finished

	boundary tuple.Time
	counters Counters
	checks   int

	slots  []uint32 // scratch: the slice of each row
	merges []merge  // scratch: what the batch has completed, in order
}

// countSlice is a run of rows of one group.
type countSlice struct {
	first tuple.Time
	group uint32
	next  uint32 // the slice after it, plus one
}

// queue holds the slices of a group that a window still needs, oldest first, the last one being filled.
type queue struct {
	head, tail uint32 // plus one; 0 is none
	rows       int64  // in the slice being filled
	until      int64  // slices to fill until the next window
	last       tuple.Time
	watched    bool // in counted.idle
}

// finished is a window that waits for the boundary.
type finished struct {
	bounds
	group uint32
	slot  uint32
}

func newCounted(p *aggregation) *counted {
	c := &counted{
		plan: p, args: newArguments(p), emit: newEmitter(p), limits: p.limits, gen: newGeneration(p.keyTypes()),
		cells: newCells(p), boundary: tuple.MinTime, slice: gcd(p.window.count, p.window.every),
	}
	c.slices, c.perStep = p.window.count/c.slice, p.window.every/c.slice
	return c
}

func (c *counted) Process(_ int, b *tuple.Batch, _ Out) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	c.counters.RowsIn += uint64(n)
	if first, _ := timeRange(b); first < c.boundary {
		return errBelowBoundary(first, c.boundary)
	}
	groups := c.args.groups(b, c.gen.Groups)
	c.gen.rows += int64(n)
	c.queues.Grow(c.gen.Len())
	c.slots, c.merges = c.slots[:0], c.merges[:0]
	for i, g := range groups {
		c.slots = append(c.slots, c.place(g, b.Time[b.Row(i)]))
	}
	c.cells.grow(c.list.Len())
	c.args.eval(b)
	if err := c.cells.add(c.slots, c.args); err != nil {
		return c.nameGroup(err)
	}
	for _, m := range c.merges {
		if err := c.cells.merge(c.cells, []uint32{m.from}, []uint32{m.to}); err != nil {
			return c.nameGroup(err)
		}
	}
	return c.checkLimits()
}

func (c *counted) nameGroup(err error) error {
	return c.plan.nameGroup(err, c.gen.Groups, func(slot uint32) uint32 { return c.list.Get(slot).group })
}

// place returns the slice of the next row of group g, and completes windows.
func (c *counted) place(g uint32, t tuple.Time) uint32 {
	q := c.queues.At(g)
	if q.until != 0 && c.plan.ttl > 0 && q.last.Add(c.plan.ttl) <= t {
		c.forget(g)
	}
	if q.until == 0 {
		c.held++
		q.until = c.slices
		c.watch(q, g, t)
	}
	q.last = t
	if q.rows == 0 {
		c.begin(q, g, t)
	}
	slot := q.tail - 1
	if q.rows++; q.rows == c.slice {
		q.rows = 0
		if q.until--; q.until == 0 {
			q.until = c.perStep
			c.finish(q, g, t)
		}
	}
	return slot
}

// watch sees to it that a group whose last row is at t is looked at when ttl is over.
func (c *counted) watch(q *queue, g uint32, t tuple.Time) {
	if c.plan.ttl > 0 && !q.watched {
		q.watched = true
		c.idle.push(expiry{end: t.Add(c.plan.ttl), id: g})
	}
}

// begin appends a slice to the queue of a group.
func (c *counted) begin(q *queue, g uint32, t tuple.Time) {
	at := c.list.Append(countSlice{first: t, group: g}) + 1
	c.live++
	if q.head == 0 {
		q.head = at
	} else {
		c.list.At(q.tail - 1).next = at
	}
	q.tail = at
}

// finish notes a window of all slices in the queue and lets go those that the next one does not have.
func (c *counted) finish(q *queue, g uint32, t tuple.Time) {
	f := finished{bounds: bounds{start: c.list.Get(q.head - 1).first, end: t.Add(1)}, group: g}
	if c.slices == 1 {
		f.slot = q.head - 1
		q.head, q.tail = 0, 0
		c.ready = append(c.ready, f)
		return
	}
	f.slot = c.list.Append(countSlice{group: g})
	c.live++
	for at := q.head; at != 0; at = c.list.Get(at - 1).next {
		c.merges = append(c.merges, merge{from: at - 1, to: f.slot})
	}
	for range c.perStep {
		q.head = c.list.Get(q.head - 1).next
		c.live--
	}
	if q.head == 0 {
		q.tail = 0
	}
	c.ready = append(c.ready, f)
}

func (c *counted) Boundary(_ int, t tuple.Time, out Out) (tuple.Time, error) {
	if t <= c.boundary {
		return c.boundary, nil
	}
	c.boundary = t
	if err := c.emitReady(out); err != nil {
		return 0, err
	}
	if t < tuple.MaxTime { // the end of the stream lets nothing go that ttl would have kept
		c.forgetIdle(t)
	}
	return t, c.compact()
}

// emitReady emits every finished window: their last rows lie before the boundary, since all rows so far do.
func (c *counted) emitReady(out Out) error {
	if len(c.ready) == 0 {
		return nil
	}
	before := 0
	for _, f := range c.ready {
		if f.end <= c.boundary {
			c.ready[before] = f
			before++
		}
	}
	due := c.sorted(c.ready[:before])
	r := results{groups: c.gen.Groups, cells: c.cells}
	for _, f := range due {
		r.groupSlots, r.cellSlots = append(r.groupSlots, f.group), append(r.cellSlots, f.slot)
		r.bounds = append(r.bounds, f.bounds)
	}
	if err := c.emit.emit(r, out); err != nil {
		return err
	}
	c.live -= len(due)
	c.ready = append(c.ready[:0], c.ready[before:]...)
	return nil
}

// sorted orders windows by stime, start and group, those of one group as they were finished.
func (c *counted) sorted(all []finished) []finished {
	slices.SortStableFunc(all, func(x, y finished) int {
		if r := cmpTimes(x.end, y.end); r != 0 {
			return r
		}
		if r := cmpTimes(x.start, y.start); r != 0 {
			return r
		}
		return c.gen.Compare(x.group, y.group)
	})
	return all
}

// forgetIdle drops the groups that had no row for ttl. One that comes back before the boundary has passed is dropped by
// its row: where boundaries lie changes nothing.
func (c *counted) forgetIdle(t tuple.Time) {
	for c.idle.n > 0 {
		f := c.idle.first()
		if f.end > t {
			return
		}
		c.idle.pop()
		q := c.queues.At(f.id)
		q.watched = false
		switch {
		case q.until == 0:
		case q.last.Add(c.plan.ttl) > t:
			c.watch(q, f.id, q.last)
		default:
			c.forget(f.id)
		}
	}
}

// forget drops a group, and counts the rows that its unfinished window had.
func (c *counted) forget(g uint32) {
	q := c.queues.At(g)
	waiting := q.rows
	for at := q.head; at != 0; at = c.list.Get(at - 1).next {
		c.live--
		if at != q.tail || q.rows == 0 {
			waiting += c.slice
		}
	}
	c.counters.Dropped += uint64(waiting)
	*q = queue{watched: q.watched}
	c.held--
}

// compact gives memory back once most slots or groups are out of use.
func (c *counted) compact() error {
	c.gen.live = c.held
	if dead := c.list.Len() - c.live; dead <= c.live+minDead && !c.gen.outgrown(false) {
		return nil
	}
	p := c.pack()
	kept, _ := c.gen.Compact(p.groups)
	slots, err := c.cells.keep(p.slots)
	if err != nil {
		return err
	}
	c.gen = &generation{Groups: kept, live: c.held}
	c.unpack(p, slots)
	return nil
}
