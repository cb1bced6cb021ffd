package op

import (
	"fednode/query/op/aggfn"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// cells are the accumulators of all aggregates for the slots of one slice of time (or of all sessions).
type cells struct {
	plan *aggregation
	rows state.Array[int64] // rows of each slot; none means that the slot is not present
	each []cell
}

// cell is one aggregate's accumulators.
type cell struct {
	nulls state.Array[int64] // null arguments of each slot; empty while there are none
	acc   aggfn.Acc          // nil for counts
}

func newCells(p *aggregation) *cells {
	c := &cells{plan: p, each: make([]cell, len(p.calls))}
	for i := range p.calls {
		if p.calls[i].fn.New != nil {
			c.each[i].acc = p.calls[i].fn.New()
		}
	}
	return c
}

func (c *cells) grow(n int) {
	if n <= c.rows.Len() {
		return
	}
	c.rows.Grow(n)
	for i := range c.each {
		if c.each[i].acc != nil {
			c.each[i].acc.Grow(n)
		}
		if c.each[i].nulls.Len() > 0 {
			c.each[i].nulls.Grow(n)
		}
	}
}

// add adds a row to each of slots, for which grow has made room; args are the arguments of the aggregates, a row each.
func (c *cells) add(slots []uint32, args *arguments) error {
	c.countRows(slots)
	for i := range c.each {
		e, col := &c.each[i], args.cols[i]
		if col == nil {
			continue
		}
		s := slots
		if col.Valid != nil {
			s, col = args.nonNull(slots, col)
			e.countNulls(slots, args.cols[i].Valid, c.rows.Len())
		}
		if e.acc == nil || len(s) == 0 {
			continue
		}
		if err := e.acc.Add(s, col); err != nil {
			return err
		}
	}
	return nil
}

func (c *cells) countRows(slots []uint32) {
	c.rows.Own(slots)
	if flat := c.rows.Flat(); flat != nil {
		for _, s := range slots {
			flat[s]++
		}
		return
	}
	pages := c.rows.Pages()
	for _, s := range slots {
		pages[s/state.PageSize][s%state.PageSize]++
	}
}

func (e *cell) countNulls(slots []uint32, valid []bool, n int) {
	e.nulls.Grow(n)
	for i, s := range slots {
		if !valid[i] {
			*e.nulls.At(s)++
		}
	}
}

// merge adds slot from[i] of other cells (or of these) to slot to[i], after what it has.
func (c *cells) merge(o *cells, from, to []uint32) error {
	for i, s := range from {
		*c.rows.At(to[i]) += o.rows.Get(s)
	}
	for i := range c.each {
		e, x := &c.each[i], &o.each[i]
		if x.nulls.Len() > 0 {
			e.nulls.Grow(c.rows.Len())
			for j, s := range from {
				*e.nulls.At(to[j]) += x.nulls.Get(s)
			}
		}
		if e.acc != nil {
			if err := e.acc.Merge(x.acc, from, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// results replaces dst by the results of slots, a column an aggregate; count is scratch. It returns how many were out of
// range.
func (c *cells) results(dst []tuple.Column, slots []uint32, count []int64) (overflow uint64) {
	for i := range c.each {
		e := &c.each[i]
		for j, s := range slots {
			count[j] = c.rows.Get(s)
			if e.nulls.Len() > 0 {
				count[j] -= e.nulls.Get(s)
			}
		}
		if e.acc != nil {
			overflow += e.acc.Result(&dst[i], slots, count[:len(slots)])
			continue
		}
		dst[i].Reset(c.plan.calls[i].fn.Type)
		dst[i].Int = append(dst[i].Int, count[:len(slots)]...)
	}
	return overflow
}

// present appends those of slots that have rows.
func (c *cells) present(dst, slots []uint32) []uint32 {
	n := uint32(c.rows.Len())
	for _, s := range slots {
		if s < n && c.rows.Get(s) != 0 {
			dst = append(dst, s)
		}
	}
	return dst
}

// countPresent returns how many slots have rows.
func (c *cells) countPresent() int {
	n := 0
	for s := range uint32(c.rows.Len()) {
		if c.rows.Get(s) != 0 {
			n++
		}
	}
	return n
}

func (c *cells) snapshot(e *tuple.Encoder, slots []uint32) {
	counts := make([]int64, len(slots))
	for i, s := range slots {
		counts[i] = c.rows.Get(s)
	}
	e.Ints(counts)
	for i := range c.each {
		x := &c.each[i]
		some := false
		for j, s := range slots {
			counts[j] = 0
			if x.nulls.Len() > 0 {
				counts[j] = x.nulls.Get(s)
			}
			some = some || counts[j] != 0
		}
		e.Bool(some)
		if some {
			e.Ints(counts)
		}
		if x.acc != nil {
			x.acc.Snapshot(e, slots)
		}
	}
}

// restore reads n slots into new cells.
func (c *cells) restore(d *tuple.Decoder, n int) {
	c.grow(n)
	readInts(d, &c.rows, n)
	for i := range c.each {
		if d.Bool() {
			c.each[i].nulls.Grow(n)
			readInts(d, &c.each[i].nulls, n)
		}
		if c.each[i].acc != nil {
			c.each[i].acc.Restore(d, n)
		}
		if d.Err() != nil {
			return
		}
	}
}

func readInts(d *tuple.Decoder, into *state.Array[int64], n int) {
	vals := d.Ints()
	if d.Err() == nil && len(vals) != n {
		d.Fail("%d counts, want %d", len(vals), n)
	}
	if d.Err() != nil {
		return
	}
	for i, v := range vals {
		*into.At(uint32(i)) = v
	}
}

// keep returns new cells with those of slots, numbered anew in their order.
func (c *cells) keep(slots []uint32) (*cells, error) {
	k := newCells(c.plan)
	k.grow(len(slots))
	return k, k.merge(c, slots, upTo(len(slots)))
}

func (c *cells) clear() {
	c.rows.Clear()
	for i := range c.each {
		c.each[i].nulls.Clear()
		if c.each[i].acc != nil {
			c.each[i].acc.Clear()
		}
	}
}

// release gives scratch back, for accumulators that may wait long for their next rows.
func (c *cells) release() {
	for i := range c.each {
		if r, ok := c.each[i].acc.(aggfn.Releaser); ok {
			r.Release()
		}
	}
}

func (c *cells) fork() *cells {
	f := &cells{plan: c.plan, rows: c.rows.Fork(), each: make([]cell, len(c.each))}
	for i := range c.each {
		f.each[i].nulls = c.each[i].nulls.Fork()
		if c.each[i].acc != nil {
			f.each[i].acc = c.each[i].acc.Fork()
		}
	}
	return f
}

// accBytes is about what an accumulator takes beside its tables: with one row in each of many windows that is most of it.
const accBytes = 768

func (c *cells) bytes() int64 {
	n := c.rows.Bytes()
	for i := range c.each {
		n += c.each[i].nulls.Bytes()
		if c.each[i].acc != nil {
			n += c.each[i].acc.Bytes() + accBytes
		}
	}
	return n
}
