package op

import (
	"slices"

	"fednode/query/expr"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// pattern follows, for every key, the attempts that its rows have begun, in order of their first row.
type pattern struct {
	d        *patternDecl
	table    keyTable                 // the time of use is that of the newest attempt's first row
	open     state.Array[*patternKey] // by slot
	attempts int64
	owner    *owner
	coder    keyCoder
	evals    []*expr.Eval
	holds    [][]bool // scratch: per step, per column row
	sel      []uint32
	rows     *assembly
	counters Counters
}

// patternKey is the open attempts of one key.
type patternKey struct {
	owner    *owner
	attempts []attempt
}

// attempt is a match in the making: the step at hand, how many rows it and each earlier step took, and what is picked of
// them. Slices of an attempt are never changed, only replaced, so that forks may share them.
type attempt struct {
	start tuple.Time
	step  int
	count int64
	picks []scalar
}

func newPattern(d *patternDecl) *pattern {
	p := &pattern{d: d, owner: new(owner), holds: make([][]bool, len(d.steps)), rows: newAssembly(d.schema)}
	p.coder.cols = d.key
	for _, s := range d.steps {
		p.evals = append(p.evals, s.where.NewEval())
	}
	return p
}

func (p *pattern) Process(_ int, b *tuple.Batch, out Out) error {
	p.counters.RowsIn += uint64(b.Rows())
	p.table.settle()
	p.open.Own(nil)
	for s, e := range p.evals {
		p.holds[s] = slices.Grow(p.holds[s][:0], len(b.Time))[:len(b.Time)]
		clear(p.holds[s])
		p.sel = e.Select(b, p.sel[:0])
		for _, row := range p.sel {
			p.holds[s][row] = true
		}
	}
	for i := range b.Rows() {
		row := b.Row(i)
		if !p.wanted(row) {
			continue
		}
		if err := p.takeRow(b, row); err != nil {
			return err
		}
		if p.rows.full() {
			if err := p.rows.flush(0, out); err != nil {
				return err
			}
		}
	}
	return p.rows.flush(0, out)
}

func (p *pattern) wanted(row int) bool {
	for _, h := range p.holds {
		if h[row] {
			return true
		}
	}
	return false
}

// takeRow offers a row to the open attempts of its key, and begins one with it.
func (p *pattern) takeRow(b *tuple.Batch, row int) error {
	t := b.Time[row]
	p.forget(t)
	key := p.coder.code(b, row)
	slot, known := p.table.find(key)
	begins := p.holds[0][row]
	if !known && !begins {
		return nil
	}
	if !known {
		slot = p.table.insert(key, t)
		p.open.Grow(p.table.slots.Len())
		*p.open.At(slot) = &patternKey{owner: p.owner}
	}
	k := p.own(slot)
	before := len(k.attempts)
	matched := p.offer(b, row, k)
	if begins && !(matched && p.d.pastLast) {
		a := attempt{start: t, picks: make([]scalar, len(p.d.picks))}
		if p.advance(b, row, &a) {
			p.emit(b, row, &a)
			matched = true
		} else {
			k.attempts = append(k.attempts, a)
			p.table.touch(slot, t)
		}
	}
	if matched && p.d.pastLast {
		k.attempts = nil
	}
	p.attempts += int64(len(k.attempts) - before)
	switch {
	case len(k.attempts) == 0:
		*p.open.At(slot) = nil
		p.table.remove(slot)
	case len(k.attempts) > maxAttempts:
		return &LimitError{What: "open attempts of one key of a pattern", Limit: maxAttempts}
	case p.d.limit > 0 && p.attempts > p.d.limit:
		return &LimitError{What: "open attempts of a pattern", Limit: p.d.limit}
	}
	return nil
}

// own returns the attempts of a slot for writing.
func (p *pattern) own(slot uint32) *patternKey {
	k := p.open.Get(slot)
	if k.owner != p.owner {
		k = &patternKey{owner: p.owner, attempts: slices.Clone(k.attempts)}
		*p.open.At(slot) = k
	}
	return k
}

// offer lets the open attempts take a row, drops those that are too old for it, and reports whether one is complete.
func (p *pattern) offer(b *tuple.Batch, row int, k *patternKey) bool {
	matched := false
	kept := k.attempts[:0]
	for i := range k.attempts {
		a := k.attempts[i]
		if a.start.Add(p.d.within) < b.Time[row] {
			continue
		}
		if !(matched && p.d.pastLast) && p.advance(b, row, &a) {
			p.emit(b, row, &a)
			matched = true
			continue
		}
		kept = append(kept, a)
	}
	clear(k.attempts[len(kept):])
	k.attempts = kept
	return matched
}

// advance gives a row to an attempt if it wants it, and reports whether the attempt is complete with it.
func (p *pattern) advance(b *tuple.Batch, row int, a *attempt) bool {
	s := &p.d.steps[a.step]
	switch {
	case p.holds[a.step][row] && a.count < s.max:
		a.count++
	case a.count >= s.min && a.step+1 < len(p.d.steps) && p.holds[a.step+1][row]:
		a.step++
		a.count = 1
	default:
		return false
	}
	p.pick(b, row, a)
	return a.step == len(p.d.steps)-1 && a.count >= p.d.steps[a.step].min
}

// pick keeps what is selected of the row that the attempt's step has just taken.
func (p *pattern) pick(b *tuple.Batch, row int, a *attempt) {
	cloned := false
	for i, c := range p.d.picks {
		if c.step != a.step || c.first && a.count > 1 {
			continue
		}
		if !cloned {
			a.picks, cloned = slices.Clone(a.picks), true
		}
		if c.count {
			a.picks[i] = scalar{set: true, bits: uint64(a.count)}
		} else {
			a.picks[i] = scalarAt(&b.Cols[c.column], row)
		}
	}
}

func (p *pattern) emit(b *tuple.Batch, row int, a *attempt) {
	p.rows.sel = append(p.rows.sel[:0], uint32(row))
	for j, c := range p.d.key {
		p.rows.take(j, &b.Cols[c], p.rows.sel)
	}
	for i, v := range a.picks {
		p.rows.scalar(len(p.d.key)+i, v)
	}
	p.rows.times(b.Time, p.rows.sel)
	p.counters.RowsOut++
}

// forget drops the keys whose newest attempt can no longer be completed by a row at t.
func (p *pattern) forget(t tuple.Time) {
	for s, ok := p.table.front(); ok && p.table.used(s).Add(p.d.within) < t; s, ok = p.table.front() {
		p.attempts -= int64(len(p.open.Get(s).attempts))
		*p.open.At(s) = nil
		p.table.remove(s)
	}
}

func (p *pattern) Boundary(_ int, t tuple.Time, _ Out) (tuple.Time, error) {
	p.forget(t)
	return t, nil
}

func (p *pattern) Snapshot(e *tuple.Encoder) {
	p.table.snapshot(e, func(slot uint32) {
		k := p.open.Get(slot)
		e.Uint(uint64(len(k.attempts)))
		for _, a := range k.attempts {
			e.Time(a.start)
			e.Uint(uint64(a.step))
			e.Int(a.count)
			for i, v := range a.picks {
				v.encode(e, p.d.picks[i].typ)
			}
		}
	})
}

func (p *pattern) Restore(d *tuple.Decoder) {
	p.table.restore(d, p.d.types, func(slot uint32) {
		k := &patternKey{owner: p.owner}
		for range d.Count(3) {
			k.attempts = append(k.attempts, p.decodeAttempt(d))
		}
		p.open.Grow(p.table.slots.Len())
		*p.open.At(slot) = k
		p.attempts += int64(len(k.attempts))
	})
}

func (p *pattern) decodeAttempt(d *tuple.Decoder) attempt {
	a := attempt{start: d.Time()}
	step := d.Uint()
	if step >= uint64(len(p.d.steps)) {
		d.Fail("step %d of %d", step, len(p.d.steps))
		return a
	}
	a.step, a.count = int(step), d.Int()
	if a.count < 1 || a.count > p.d.steps[a.step].max {
		d.Fail("%d rows in a step of at most %d", a.count, p.d.steps[a.step].max)
	}
	for _, c := range p.d.picks {
		a.picks = append(a.picks, decodeScalar(d, c.typ))
	}
	return a
}

func (p *pattern) Fork() Operator {
	f := newPattern(p.d)
	f.table, f.open, f.attempts = p.table.fork(), p.open.Fork(), p.attempts
	// Attempts that exist now belong to neither: whoever changes a key's copies them.
	p.owner = new(owner)
	return f
}

func (p *pattern) StateBytes() int64 {
	return p.table.bytes() + p.open.Bytes() + int64(p.table.count)*40 + p.attempts*int64(56+40*len(p.d.picks))
}

func (p *pattern) Counters() Counters {
	c := p.counters
	for _, e := range p.evals {
		c = evalCounters(c, e)
	}
	return c
}
