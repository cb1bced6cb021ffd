package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

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

// entryTable holds the entries of a keyed table: the last version of each key.
type entryTable struct {
	// Fixed.
	t        *Table
	key      []tuple.Type
	rest     []tuple.Type
	restCols []int
	coder    keyCoder
	e        tuple.Encoder

	// State.
	keys    keyTable
	values  state.Array[string] // by slot: the columns that are not the key
	text    int64               // bytes of them
	lengths [129]int32          // entries by length of prefix, for longest-prefix
}

func (x *entryTable) init(d *lookupDecl) {
	x.t, x.restCols = d.t, d.values
	x.key, x.rest = typesOf(d.table, d.key), typesOf(d.table, d.values)
	x.coder.cols = d.key
}

// put takes a version in: row i of a batch of the table's stream. A version whose key has a null can never be found.
func (x *entryTable) put(b *tuple.Batch, i int) error {
	if x.coder.hasNull(b, i) {
		return nil
	}
	key := x.coder.code(b, i)
	slot, known := x.keys.find(key)
	if known {
		x.keys.touch(slot, b.Time[i])
	} else {
		slot = x.add(key, b.Time[i])
	}
	x.e.B = x.e.B[:0]
	for _, c := range x.restCols {
		encodeValue(&x.e, &b.Cols[c], i)
	}
	v := x.values.At(slot)
	x.text += int64(len(x.e.B) - len(*v))
	if *v != string(x.e.B) {
		*v = string(x.e.B)
	}
	if x.t.Limit > 0 && int64(x.keys.count) > x.t.Limit {
		return &LimitError{What: "entries of a table", Limit: x.t.Limit}
	}
	return nil
}

func (x *entryTable) add(key []byte, used tuple.Time) uint32 {
	slot := x.keys.insert(key, used)
	x.values.Grow(x.keys.slots.Len())
	*x.values.At(slot) = ""
	x.countPrefix(key, 1)
	return slot
}

// countPrefix counts the entry of a key of one cidr: its encoding ends with the length.
func (x *entryTable) countPrefix(key []byte, n int32) {
	if x.t.Match == matchPrefix {
		x.lengths[min(key[len(key)-1], 128)] += n
	}
}

// forget drops the entries that are not in force at t or later.
func (x *entryTable) forget(t tuple.Time) {
	if x.t.TTL == 0 {
		return
	}
	for s, ok := x.keys.front(); ok && x.keys.used(s).Add(x.t.TTL) <= t; s, ok = x.keys.front() {
		x.countPrefix([]byte(x.keys.key(s)), -1)
		x.text -= int64(len(x.values.Get(s)))
		*x.values.At(s) = ""
		x.keys.remove(s)
	}
}

// find returns the entry for a key, given in both forms: encoded, and as row i of the key's only column.
func (x *entryTable) find(key []byte, c *tuple.Column, i int) (slot uint32, ok bool) {
	switch x.t.Match {
	case matchPrefix:
		return x.findPrefix(c.Bin(i))
	case matchSuffix:
		return x.findSuffix(c.Bin(i))
	}
	return x.keys.find(key)
}

// findPrefix tries the lengths that occur, the longest first.
func (x *entryTable) findPrefix(addr []byte) (slot uint32, ok bool) {
	var p [17]byte
	copy(p[:16], addr)
	for n := 128; n >= 0; n-- {
		if n < 128 { // clear the bit that is no longer part of the prefix
			p[n/8] &^= 1 << (7 - n%8)
		}
		if x.lengths[n] == 0 {
			continue
		}
		p[16] = byte(n)
		x.e.B = append(x.e.B[:0], 1)
		x.e.Bytes(p[:])
		if slot, ok = x.keys.find(x.e.B); ok {
			return slot, true
		}
	}
	return 0, false
}

// findSuffix tries the whole name, then what follows each dot.
func (x *entryTable) findSuffix(name []byte) (slot uint32, ok bool) {
	for {
		x.e.B = append(x.e.B[:0], 1)
		x.e.Bytes(name)
		if slot, ok = x.keys.find(x.e.B); ok {
			return slot, true
		}
		dot := 0
		for dot < len(name) && name[dot] != '.' {
			dot++
		}
		if dot == len(name) {
			return 0, false
		}
		name = name[dot+1:]
	}
}

func (x *entryTable) snapshot(e *tuple.Encoder) {
	x.keys.snapshot(e, func(slot uint32) { e.String(x.values.Get(slot)) })
}

func (x *entryTable) restore(d *tuple.Decoder) {
	x.keys.restore(d, x.key, func(slot uint32) {
		text := d.String()
		v := tuple.NewDecoder([]byte(text))
		checkValues(v, x.rest)
		if err := v.Close(); err != nil {
			d.Fail("entry: %v", err)
		}
		x.values.Grow(x.keys.slots.Len())
		*x.values.At(slot) = text
		x.text += int64(len(text))
		x.countPrefix([]byte(x.keys.key(slot)), 1)
	})
}

func (x *entryTable) fork() entryTable {
	f := *x
	f.keys, f.values = x.keys.fork(), x.values.Fork()
	f.coder = keyCoder{cols: x.coder.cols}
	f.e = tuple.Encoder{}
	return f
}

func (x *entryTable) bytes() int64 { return x.keys.bytes() + x.values.Bytes() + x.text }
