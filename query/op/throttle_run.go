package op

import (
	"slices"

	"fednode/query/op/state"
	"fednode/query/tuple"
)

// throttle counts the rows of each key's period. The key table's time of use is the period's begin.
type throttle struct {
	d      *throttleDecl
	table  keyTable
	counts state.Array[periodCount]
	// Periods that have ended while the boundary has not passed them, in order of their end. There are as many as end
	// between two boundaries, so a fork copies them.
	ended    []endedPeriod
	coder    keyCoder
	sel      []uint32
	out      tuple.Batch
	rows     *assembly // of the summary
	counters Counters
}

type periodCount struct{ rows, passed int64 }

type endedPeriod struct {
	key   string
	start tuple.Time
	periodCount
}

func newThrottle(d *throttleDecl) *throttle {
	t := &throttle{d: d}
	t.coder.cols = d.key
	if d.summary != nil {
		t.rows = newAssembly(d.summary)
	}
	return t
}

func (t *throttle) Process(_ int, b *tuple.Batch, out Out) error {
	t.sel = t.sel[:0]
	t.table.settle()
	t.counts.Own(nil)
	for i := range b.Rows() {
		row := b.Row(i)
		t.end(b.Time[row])
		key := t.coder.code(b, row)
		slot, known := t.table.find(key)
		if !known {
			slot = t.table.insert(key, b.Time[row])
			t.counts.Grow(t.table.slots.Len())
			*t.counts.At(slot) = periodCount{}
			if t.d.limit > 0 && int64(t.table.count) > t.d.limit {
				return &LimitError{What: "keys of a throttle", Limit: t.d.limit}
			}
		}
		c := t.counts.At(slot)
		c.rows++
		if t.d.passes(c.rows) {
			c.passed++
			t.sel = append(t.sel, uint32(row))
		}
	}
	t.counters.RowsIn += uint64(b.Rows())
	t.counters.RowsOut += uint64(len(t.sel))
	t.counters.Dropped += uint64(b.Rows() - len(t.sel))
	if len(t.sel) == 0 {
		return nil
	}
	t.out = tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols, Sel: t.sel}
	return out.Batch(0, &t.out)
}

// end closes the periods that a row at `at` is not part of.
func (t *throttle) end(at tuple.Time) {
	for s, ok := t.table.front(); ok && t.table.used(s).Add(t.d.per) <= at; s, ok = t.table.front() {
		if c := t.counts.Get(s); t.rows != nil && c.rows > c.passed {
			t.ended = append(t.ended, endedPeriod{key: t.table.key(s), start: t.table.used(s), periodCount: c})
		}
		t.table.remove(s)
	}
}

func (t *throttle) Boundary(_ int, at tuple.Time, out Out) (tuple.Time, error) {
	t.end(at)
	n := 0
	for n < len(t.ended) && t.ended[n].start.Add(t.d.per) <= at {
		n++
	}
	if n > 0 {
		if err := t.summarise(t.ended[:n], out); err != nil {
			return 0, err
		}
		t.ended = slices.Clone(t.ended[n:])
	}
	return at, nil
}

// summarise emits periods in order of their end, then of their key.
func (t *throttle) summarise(periods []endedPeriod, out Out) error {
	keys := len(t.d.key)
	for len(periods) > 0 {
		n := 1
		for n < len(periods) && (n < assemblyRows || periods[n].start == periods[n-1].start) {
			n++
		}
		for _, p := range periods[:n] {
			end := p.start.Add(t.d.per)
			t.rows.int(0, int64(p.start))
			t.rows.int(1, int64(end))
			t.rows.decode(p.key, 2, keys)
			t.rows.int(2+keys, p.passed)
			t.rows.int(3+keys, p.rows-p.passed)
			t.rows.b.Time = append(t.rows.b.Time, end-1)
		}
		periods = periods[n:]
		b := *t.rows.batch()
		b.Sel = orderBy(&b, 2+keys)
		t.counters.RowsOut += uint64(n)
		err := out.Batch(1, &b)
		t.rows.clear()
		if err != nil {
			return err
		}
	}
	return nil
}

// orderBy returns the rows of a dense batch in order of stime and of its first n columns.
func orderBy(b *tuple.Batch, n int) []uint32 {
	sel := make([]uint32, len(b.Time))
	for i := range sel {
		sel[i] = uint32(i)
	}
	slices.SortFunc(sel, func(x, y uint32) int {
		if b.Time[x] != b.Time[y] {
			if b.Time[x] < b.Time[y] {
				return -1
			}
			return 1
		}
		for j := range n {
			if c := b.Cols[j].Compare(int(x), &b.Cols[j], int(y)); c != 0 {
				return c
			}
		}
		return int(x) - int(y)
	})
	return sel
}

func (t *throttle) Snapshot(e *tuple.Encoder) {
	t.table.snapshot(e, func(slot uint32) { encodeCount(e, t.counts.Get(slot)) })
	e.Uint(uint64(len(t.ended)))
	for _, p := range t.ended {
		e.String(p.key)
		e.Time(p.start)
		encodeCount(e, p.periodCount)
	}
}

func encodeCount(e *tuple.Encoder, c periodCount) {
	e.Int(c.rows)
	e.Int(c.passed)
}

func decodeCount(d *tuple.Decoder) periodCount {
	c := periodCount{rows: d.Int(), passed: d.Int()}
	if c.passed < 0 || c.passed > c.rows {
		d.Fail("%d rows passed of %d", c.passed, c.rows)
	}
	return c
}

func (t *throttle) Restore(d *tuple.Decoder) {
	t.table.restore(d, t.d.types, func(slot uint32) {
		t.counts.Grow(t.table.slots.Len())
		*t.counts.At(slot) = decodeCount(d)
	})
	for range d.Count(4) {
		p := endedPeriod{key: d.String(), start: d.Time(), periodCount: decodeCount(d)}
		k := tuple.NewDecoder([]byte(p.key))
		checkValues(k, t.d.types)
		if err := k.Close(); err != nil {
			d.Fail("key: %v", err)
			return
		}
		if t.rows == nil {
			d.Fail("periods of a summary that is not declared")
			return
		}
		t.ended = append(t.ended, p)
	}
}

func (t *throttle) Fork() Operator {
	f := newThrottle(t.d)
	f.table, f.counts, f.ended = t.table.fork(), t.counts.Fork(), slices.Clone(t.ended)
	return f
}

func (t *throttle) StateBytes() int64 {
	return t.table.bytes() + t.counts.Bytes() + int64(len(t.ended))*64
}

func (t *throttle) Counters() Counters { return t.counters }
