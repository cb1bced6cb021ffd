package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

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

// settle makes the table flat again after a fork, as keyTable.settle does.
func (x *entryTable) settle() {
	x.keys.settle()
	x.values.Own(nil)
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
