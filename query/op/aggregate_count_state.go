package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// packed is the state of counted in an order that depends on the keys alone: groups by key, the slices of each in its
// queue, then finished windows.
type packed struct {
	groups []uint32 // in use, by key
	queues []queue  // of each group; head and tail are not set
	counts []uint32 // slices of each group
	slots  []uint32 // of the slices, then of the finished windows
	firsts []tuple.Time
	ready  []finished // group is a place in groups
}

func (c *counted) pack() packed {
	var p packed
	used := make([]bool, c.gen.Len())
	for _, f := range c.ready {
		used[f.group] = true
	}
	place := make([]uint32, c.gen.Len())
	for _, g := range c.gen.Order() {
		var q queue
		if int(g) < c.queues.Len() {
			q = c.queues.Get(g)
		}
		if q.until == 0 && !used[g] {
			continue
		}
		place[g] = uint32(len(p.groups))
		n := 0
		for at := q.head; at != 0; at = c.list.Get(at - 1).next {
			p.slots, p.firsts = append(p.slots, at-1), append(p.firsts, c.list.Get(at-1).first)
			n++
		}
		q.head, q.tail = 0, 0
		p.groups, p.queues, p.counts = append(p.groups, g), append(p.queues, q), append(p.counts, uint32(n))
	}
	for _, f := range c.sorted(slices.Clone(c.ready)) {
		p.slots = append(p.slots, f.slot)
		f.group = place[f.group]
		p.ready = append(p.ready, f)
	}
	return p
}

// unpack replaces the state by p, whose groups are numbered from 0 and whose slots are those of cells from 0.
func (c *counted) unpack(p packed, accumulators *cells) {
	c.cells, c.list, c.queues, c.idle = accumulators, state.Array[countSlice]{}, state.Array[queue]{}, expiries{}
	c.live, c.held, c.ready = 0, 0, nil
	c.queues.Grow(len(p.groups))
	firsts := p.firsts
	for g, q := range p.queues {
		rows := q.rows
		for range p.counts[g] {
			c.begin(&q, uint32(g), firsts[0])
			firsts = firsts[1:]
		}
		q.rows, q.watched = rows, false
		if q.until != 0 {
			c.held++
			c.watch(&q, uint32(g), q.last)
		}
		*c.queues.At(uint32(g)) = q
	}
	for _, f := range p.ready {
		f.slot = c.list.Append(countSlice{group: f.group})
		c.live++
		c.ready = append(c.ready, f)
	}
}

// Snapshot writes the packed state.
func (c *counted) Snapshot(e *tuple.Encoder) {
	e.Time(c.boundary)
	p := c.pack()
	c.gen.Snapshot(e, p.groups)
	for _, q := range p.queues {
		e.Int(q.rows)
		e.Int(q.until)
		e.Time(q.last)
	}
	e.Uint32s(p.counts)
	e.Times(p.firsts)
	e.Uint(uint64(len(p.ready)))
	for _, f := range p.ready {
		e.Uint(uint64(f.group))
		e.Time(f.start)
		e.Time(f.end)
	}
	c.cells.snapshot(e, p.slots)
}

// Restore reads what Snapshot wrote.
func (c *counted) Restore(d *tuple.Decoder) {
	c.boundary = d.Time()
	n := c.gen.Restore(d)
	p := packed{groups: upTo(n)}
	for range n {
		q := queue{rows: d.Int(), until: d.Int(), last: d.Time()}
		if q.rows < 0 || q.rows >= c.slice || q.until < 0 || q.until > c.slices {
			d.Fail("a window with %d rows in its slice and %d slices to come", q.rows, q.until)
		}
		p.queues = append(p.queues, q)
	}
	p.counts, p.firsts = d.Uint32s(), d.Times()
	for range d.Count(3) {
		f := finished{group: uint32(d.Uint()), bounds: bounds{start: d.Time(), end: d.Time()}}
		if int(f.group) >= n {
			d.Fail("a window of group %d of %d", f.group, n)
		}
		p.ready = append(p.ready, f)
	}
	if d.Err() != nil || !c.checkSlices(d, &p) {
		return
	}
	accumulators := newCells(c.plan)
	if accumulators.restore(d, len(p.firsts)+len(p.ready)); d.Err() == nil {
		c.unpack(p, accumulators)
	}
}

// checkSlices records whether the slices of every group are as many as its queue says.
func (c *counted) checkSlices(d *tuple.Decoder, p *packed) bool {
	if len(p.counts) != len(p.queues) {
		d.Fail("%d queues, want %d", len(p.counts), len(p.queues))
		return false
	}
	total := 0
	for i, n := range p.counts {
		total += int(n)
		q := p.queues[i]
		full := int64(n)
		if q.rows > 0 {
			full--
		}
		if q.until > 0 && full != c.slices-q.until || q.until == 0 && n != 0 {
			d.Fail("%d slices with %d to come", n, q.until)
			return false
		}
	}
	if total != len(p.firsts) {
		d.Fail("%d slices, want %d", len(p.firsts), total)
		return false
	}
	return true
}

// Fork shares all tables page by page.
func (c *counted) Fork() Operator {
	f := newCounted(c.plan)
	f.limits, f.gen, f.cells, f.list = c.limits, c.gen.fork(), c.cells.fork(), c.list.Fork()
	f.queues, f.idle, f.live, f.held = c.queues.Fork(), c.idle.fork(), c.live, c.held
	f.ready, f.boundary = slices.Clone(c.ready), c.boundary
	return f
}

// SetLimits lowers the limits of the declaration.
func (c *counted) SetLimits(l Limits) { c.limits = c.plan.limits.lower(l) }

func (c *counted) checkLimits() error {
	if l := c.limits.Groups; l > 0 && int64(c.held) > l {
		return &LimitError{What: "groups", Limit: l}
	}
	if c.checks++; c.limits.StateBytes > 0 && c.checks&15 == 0 && c.StateBytes() > c.limits.StateBytes {
		return &LimitError{What: "state bytes", Limit: c.limits.StateBytes}
	}
	return nil
}

// StateBytes sums all tables.
func (c *counted) StateBytes() int64 {
	return c.gen.Bytes() + c.cells.bytes() + c.list.Bytes() + c.queues.Bytes() + c.idle.heap.Bytes()
}

// Counters returns the totals.
func (c *counted) Counters() Counters { return c.emit.counters(c.args.counters(c.counters)) }
