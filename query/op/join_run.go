package op

import (
	"cmp"
	"slices"

	"fednode/query/tuple"
)

// settleEvents is about how many results a join collects before it emits them.
const settleEvents = 8192

// maxInstant bounds the pairs of one stime, which are sorted together: a key that most rows of both sides share makes as
// many as their product.
const maxInstant = 4 << 20

// joinEvent is one result: the positions of its rows, none where a side has none.
type joinEvent struct {
	time  tuple.Time
	left  int64
	right int64
}

// none sorts after every position.
const none = int64(1)<<62 - 1

// join takes the rows of both sides in order of (stime, side, arrival), once both boundaries have passed them: each row
// looks for partners among the earlier rows of the other side. Same-window joins are intervals of length 0 with the
// window among the keys, since rows of one window have one stime.
type join struct {
	d        *joinDecl
	align    *aligner
	sides    [2]*joinSide
	pending  [2]int64 // per side: rows before it have had their last chance to match; they go at the end of settle
	expired  [2]int64 // per side: rows before it find no partner at the stime of the row taken last; kept with a limit only
	events   []joinEvent
	instant  int     // events before it have an earlier stime than the row being taken
	found    []int64 // scratch: partners of one row
	where    *pairEval
	rows     *assembly // gathered sources
	computed *joinCompute
	counters Counters
}

func newJoin(d *joinDecl) *join {
	j := &join{d: d, align: newAligner(d.in[0], d.in[1])}
	for s := range j.sides {
		j.sides[s] = newJoinSide(j.align.logs[s], d, s)
	}
	j.scratch()
	return j
}

// scratch makes what an instance does not share with its forks and does not store.
func (j *join) scratch() {
	if j.d.where != nil {
		j.where = newPairEval(j.d)
	}
	if j.d.layout.computed() {
		j.computed = newJoinCompute(j.d)
		j.rows = newAssembly(j.d.pair.schema)
	} else {
		j.rows = newAssembly(j.d.layout.schema)
	}
}

func (j *join) Process(in int, b *tuple.Batch, _ Out) error {
	j.counters.RowsIn += uint64(b.Rows())
	j.align.logs[in].add(b)
	return nil
}

func (j *join) Boundary(in int, t tuple.Time, out Out) (tuple.Time, error) {
	limit := j.align.boundary(in, t)
	for {
		side, b, lo, hi, ok := j.align.step(limit)
		if !ok {
			break
		}
		if err := j.takeRun(side, b, lo, hi, out); err != nil {
			return 0, err
		}
	}
	return limit, j.settle(limit, out)
}

func (j *join) takeRun(side int, b *tuple.Batch, lo, hi int, out Out) error {
	own := j.sides[side]
	hashes := own.hashes(b, lo, hi)
	own.heads.Own(nil) // flat again after a fork
	for i := lo; i < hi; i++ {
		t := b.Time[i]
		if n := len(j.events); n > 0 && j.events[n-1].time < t {
			if j.instant = n; n >= settleEvents {
				if err := j.settle(t, out); err != nil {
					return err
				}
			}
		}
		h := hashes[i-lo]
		pos := own.done
		own.insert(h)
		if j.d.limit > 0 && j.live(t) > j.d.limit {
			return &LimitError{What: "rows held by a join", Limit: j.d.limit}
		}
		if h != 0 {
			j.probe(side, b, i, pos, h)
			if len(j.events)-j.instant > maxInstant {
				return &LimitError{What: "pairs of one instant in a join", Limit: maxInstant}
			}
		}
	}
	return nil
}

// live returns how many of the rows taken can still find a partner at t. Rows that wait for the other side do not count:
// how far one side is ahead of the other is not the query's doing, and must not end a replica whose other input has failed.
func (j *join) live(t tuple.Time) int64 {
	var n int64
	for s, reach := range [2]int64{j.d.after, j.d.before} {
		side := j.sides[s]
		p := max(j.expired[s], side.log.first)
		for p < side.done && side.log.time(p).Add(reach) < t {
			p++
		}
		j.expired[s] = p
		n += side.done - p
	}
	return n
}

// probe adds the pairs of a row with the earlier rows of the other side.
func (j *join) probe(side int, b *tuple.Batch, i int, pos int64, h uint64) {
	own, other := j.sides[side], j.sides[1-side]
	back := j.d.before
	if side == 1 {
		back = j.d.after
	}
	t := b.Time[i]
	oldest := t.Add(-back)
	j.found = j.found[:0]
	for p := other.first(h); p >= 0; p = other.after(p) {
		if other.log.time(p) < oldest {
			break
		}
		if other.chunk(p).hash[p%chunkRows] == h && own.sameKey(b, i, other, p) {
			j.found = append(j.found, p)
			if side == 0 && j.oneMatch() {
				break
			}
		}
	}
	for k := len(j.found) - 1; k >= 0; k-- {
		e := joinEvent{time: t, left: pos, right: j.found[k]}
		if side == 1 {
			e.left, e.right = j.found[k], pos
		}
		j.events = append(j.events, e)
	}
}

// oneMatch reports whether any partner of a left row is as good as another.
func (j *join) oneMatch() bool {
	return j.where == nil && (j.d.typ == semiJoin || j.d.typ == antiJoin)
}

// settle decides every result with stime below limit and emits them; all rows below it are in the index.
func (j *join) settle(limit tuple.Time, out Out) error {
	if j.where != nil && len(j.events) > 0 {
		j.events = j.where.keep(j, j.events)
	}
	j.markMatches()
	j.expire(0, j.d.after, limit)
	j.expire(1, j.d.before, limit)
	if !slices.IsSortedFunc(j.events, j.order) {
		slices.SortFunc(j.events, j.order)
	}
	if err := j.emit(out); err != nil {
		return err
	}
	j.events, j.instant = j.events[:0], 0
	for s, side := range j.sides {
		side.drop(j.pending[s])
	}
	return nil
}

// markMatches remembers which rows have matched, and turns pairs into what the type of join yields for them.
func (j *join) markMatches() {
	switch j.d.typ {
	case leftJoin:
		for _, e := range j.events {
			j.sides[0].match(e.left)
		}
	case fullJoin:
		for _, e := range j.events {
			j.sides[0].match(e.left)
			j.sides[1].match(e.right)
		}
	case semiJoin, antiJoin:
		kept := j.events[:0]
		for _, e := range j.events { // in order of stime, so the first match counts
			if first := !j.sides[0].matched(e.left); first && j.d.typ == semiJoin {
				kept = append(kept, joinEvent{time: e.time, left: e.left, right: none})
			}
			j.sides[0].match(e.left)
		}
		j.events = kept
	}
}

// expire passes over the rows of a side that could match until reach after their stime, and no longer can at limit.
func (j *join) expire(side int, reach int64, limit tuple.Time) {
	s := j.sides[side]
	wanted := j.d.typ == fullJoin || side == 0 && (j.d.typ == leftJoin || j.d.typ == antiJoin)
	for ; j.pending[side] < s.done; j.pending[side]++ {
		pos := j.pending[side]
		last := s.log.time(pos).Add(reach)
		if last >= limit && limit != tuple.MaxTime {
			return
		}
		if !wanted || s.matched(pos) {
			continue
		}
		e := joinEvent{time: last, left: pos, right: none}
		if side == 1 {
			e.left, e.right = none, pos
		}
		j.events = append(j.events, e)
	}
}

// order is the canonical order of results.
func (j *join) order(a, b joinEvent) int {
	if c := cmp.Compare(a.time, b.time); c != 0 {
		return c
	}
	ba, ia, ka := j.keyRow(a)
	bb, ib, kb := j.keyRow(b)
	for k := range ka {
		if c := ba.Cols[ka[k]].Compare(ia, &bb.Cols[kb[k]], ib); c != 0 {
			return c
		}
	}
	if c := cmp.Compare(a.left, b.left); c != 0 {
		return c
	}
	return cmp.Compare(a.right, b.right)
}

// keyRow returns where the key of a result stands.
func (j *join) keyRow(e joinEvent) (b *tuple.Batch, row int, keys []int) {
	side, pos := 0, e.left
	if pos == none {
		side, pos = 1, e.right
	}
	b, row = j.sides[side].log.at(pos)
	return b, row, j.d.keys[side]
}

func (j *join) Snapshot(e *tuple.Encoder) {
	j.align.snapshot(e)
	for _, side := range j.sides {
		side.snapshot(e)
	}
}

func (j *join) Restore(d *tuple.Decoder) {
	j.align.restore(d)
	for s, side := range j.sides {
		if d.Err() != nil {
			return
		}
		side.restore(d, j.align.done[s])
	}
}

func (j *join) Fork() Operator {
	f := &join{d: j.d, align: j.align.fork(), pending: j.pending, expired: j.expired}
	for s, side := range j.sides {
		f.sides[s] = side.fork(f.align.logs[s])
	}
	f.scratch()
	return f
}

func (j *join) StateBytes() int64 { return j.align.bytes() + j.sides[0].bytes() + j.sides[1].bytes() }

func (j *join) Counters() Counters {
	c := j.counters
	if j.where != nil {
		c = evalCounters(c, j.where.eval)
	}
	if j.computed != nil {
		for _, e := range j.computed.evals {
			c = evalCounters(c, e)
		}
	}
	return c
}
