package op

import "fednode/query/tuple"

// Ports of the lookup's aligner: at one stime the table's versions come before the rows that see them.
const (
	alignTable  = 0
	alignStream = 1
)

// lookup keeps the entries of a table in step with its stream.
type lookup struct {
	d        *lookupDecl
	align    *aligner
	entries  entryTable
	rows     *assembly
	coder    keyCoder
	counters Counters
}

func newLookup(d *lookupDecl) *lookup {
	l := &lookup{d: d, align: newAligner(d.table, d.stream), rows: newAssembly(d.schema)}
	l.entries.init(d)
	l.coder.cols = d.on
	return l
}

func (l *lookup) Process(in int, b *tuple.Batch, _ Out) error {
	if in == 0 {
		l.counters.RowsIn += uint64(b.Rows())
		l.align.logs[alignStream].add(b)
		return nil
	}
	if !l.d.latest {
		l.align.logs[alignTable].add(b)
		return nil
	}
	for i := range b.Rows() {
		if err := l.entries.put(b, b.Row(i)); err != nil {
			return err
		}
	}
	return nil
}

func (l *lookup) Boundary(in int, t tuple.Time, out Out) (tuple.Time, error) {
	limit := l.align.boundary(1-in, t)
	if l.d.latest {
		limit = tuple.MinTime
		if l.align.bound[alignTable] == tuple.MaxTime {
			limit = l.align.bound[alignStream]
		}
	}
	l.entries.settle()
	for {
		port, b, lo, hi, ok := l.align.step(limit)
		if !ok {
			break
		}
		if err := l.take(port, b, lo, hi); err != nil {
			return 0, err
		}
		if l.rows.full() {
			if err := l.rows.flush(0, out); err != nil {
				return 0, err
			}
		}
	}
	if !l.d.latest {
		l.entries.forget(limit)
	}
	l.align.dropDone()
	return limit, l.rows.flush(0, out)
}

func (l *lookup) take(port int, b *tuple.Batch, lo, hi int) error {
	if port == alignStream {
		l.match(b, lo, hi)
		return nil
	}
	for i := lo; i < hi; i++ {
		l.entries.forget(b.Time[i])
		if err := l.entries.put(b, i); err != nil {
			return err
		}
	}
	return nil
}

// match adds the rows that are kept, each with the columns of its entry.
func (l *lookup) match(b *tuple.Batch, lo, hi int) {
	l.rows.sel = l.rows.sel[:0]
	first := l.d.stream.Len()
	for i := lo; i < hi; i++ {
		if !l.d.latest {
			l.entries.forget(b.Time[i])
		}
		slot, found := uint32(0), false
		if !l.coder.hasNull(b, i) {
			slot, found = l.entries.find(l.coder.code(b, i), &b.Cols[l.d.on[0]], i)
		}
		if found && l.d.keep == keepUnmatched || !found && l.d.keep == keepMatched {
			continue
		}
		l.rows.sel = append(l.rows.sel, uint32(i))
		if found {
			l.rows.decode(l.entries.values.Get(slot), first, len(l.d.values))
			continue
		}
		for j := range l.d.values {
			l.rows.null(first + j)
		}
	}
	if len(l.rows.sel) == 0 {
		return
	}
	for j := range b.Cols {
		l.rows.take(j, &b.Cols[j], l.rows.sel)
	}
	l.rows.times(b.Time, l.rows.sel)
	l.counters.RowsOut += uint64(len(l.rows.sel))
}

func (l *lookup) Snapshot(e *tuple.Encoder) {
	l.align.snapshot(e)
	l.entries.snapshot(e)
}

func (l *lookup) Restore(d *tuple.Decoder) {
	l.align.restore(d)
	l.entries.restore(d)
}

func (l *lookup) Fork() Operator {
	f := &lookup{d: l.d, align: l.align.fork(), entries: l.entries.fork(), rows: newAssembly(l.d.schema)}
	f.coder.cols = l.d.on
	return f
}

func (l *lookup) StateBytes() int64 { return l.align.bytes() + l.entries.bytes() }

func (l *lookup) Counters() Counters { return l.counters }
