package state

import (
	"math/bits"
	"slices"
)

// Distinct holds an exact set of 64-bit values for each slot. The values are numbers, or ids that stand for others. Values
// below 65,536 lie in a set of the slot's own that changes its form as it grows: some in the slot's entry itself, then an
// open-addressing table, then a bitmap. The rest share one table of pairs. The zero value is empty.
type Distinct struct {
	sets Array[narrowSet]
	wide Pairs
	// owner marks the tables and bitmaps that no fork shares.
	owner  *owner
	pool   narrowPool
	recent recentPairs
	// inserted counts the values below 65,536 of all sets.
	inserted int
	touched  uint32 // keeps the reads of touch
	shared   int64  // bytes of tables and bitmaps from before a fork
}

type owner struct{ _ uint64 }

// narrowSet is one slot's values below 65,536, in a cache line. While inline, unused lanes repeat the first value, so
// that a search looks at all lanes without knowing how many there are.
type narrowSet struct {
	bits   *bitmap
	table  *narrowTable
	n      uint32 // values of any form
	wide   uint32 // values in Distinct.wide
	inline [inlineWords]uint64
}

const (
	inlineWords = 5
	inlineMax   = 4 * inlineWords
	lanes       = 0x0001_0001_0001_0001
	laneTops    = 0x8000_8000_8000_8000
)

type bitmap struct {
	words [1024]uint64
	owner *owner
}

// Grow makes room for slots below n.
func (d *Distinct) Grow(n int) {
	d.sets.Grow(n)
	if d.owner == nil {
		d.owner = new(owner)
	}
}

// Add adds vals[i] to the set of slots[i], for all i. Grow has made room for the slots.
func (d *Distinct) Add(slots []uint32, vals []int64) {
	d.sets.Own(nil) // flat again when no page is shared any more
	vals = vals[:len(slots)]
	if d.inserted < recentFrom || d.sets.Len() < recentSets || d.recent.off {
		for i, slot := range slots {
			d.AddOne(slot, uint64(vals[i]))
		}
		return
	}
	missing := d.recent.missing(slots, vals)
	for len(missing) > 0 {
		some := missing[:min(len(missing), aheadRows)]
		missing = missing[len(some):]
		d.touch(slots, some)
		for _, i := range some {
			d.AddOne(slots[i], uint64(vals[i]))
		}
	}
}

// aheadRows is how many sets are fetched together.
const aheadRows = 64

// touch fetches the sets of some rows, so that the waits for memory overlap: adding decides by their form, and the
// processor cannot look past a wrong guess.
func (d *Distinct) touch(slots, rows []uint32) {
	var sum uint32
	if flat := d.sets.Flat(); flat != nil {
		for _, i := range rows {
			sum += flat[slots[i]].n
		}
	}
	d.touched = sum
}

// addNarrow adds a value below 65,536. While pages are shared, one that is there already copies none.
func (d *Distinct) addNarrow(slot uint32, v uint16) {
	if flat := d.sets.Flat(); flat != nil {
		if set := &flat[slot]; !set.has(v) {
			d.insert(set, v)
		}
		return
	}
	if s := d.sets.Get(slot); !s.has(v) {
		d.insert(d.sets.At(slot), v)
	}
}

// AddOne adds a value to the set of a slot.
func (d *Distinct) AddOne(slot uint32, v uint64) {
	if v>>16 != 0 {
		d.addWide(slot, v)
		return
	}
	d.addNarrow(slot, uint16(v))
}

func (d *Distinct) addWide(slot uint32, v uint64) {
	if d.wide.Add(slot, v, 1) {
		d.sets.At(slot).wide++
	}
}

// Len returns the number of values in the set of a slot.
func (d *Distinct) Len(slot uint32) int64 {
	s := d.sets.Get(slot)
	return int64(s.n) + int64(s.wide)
}

func (s *narrowSet) has(v uint16) bool {
	switch {
	case s.bits != nil:
		return s.bits.words[v>>6]>>(v&63)&1 != 0
	case s.table != nil:
		return s.table.has(v)
	}
	return s.n != 0 && s.hasInline(uint64(v))
}

// hasInline looks for v in all lanes at once: a lane that equals v is zero after the exclusive or, and only a zero lane
// can be the lowest to borrow.
func (s *narrowSet) hasInline(v uint64) bool {
	v *= lanes
	var hit uint64
	for _, w := range &s.inline {
		x := w ^ v
		hit |= (x - lanes) & ^x & laneTops
	}
	return hit != 0
}

// insert adds a value that is not there.
func (d *Distinct) insert(set *narrowSet, v uint16) {
	d.inserted++
	switch {
	case set.bits != nil:
		if set.bits.owner != d.owner {
			c := *set.bits
			c.owner = d.owner
			set.bits = &c
		}
		set.bits.words[v>>6] |= 1 << (v & 63)
	case set.table != nil:
		d.insertTable(set, v)
	case set.n == 0:
		for i := range set.inline {
			set.inline[i] = uint64(v) * lanes
		}
	case set.n < inlineMax:
		shift := 16 * (set.n & 3)
		w := &set.inline[set.n>>2]
		*w = *w&^(0xFFFF<<shift) | uint64(v)<<shift
	default:
		t := d.pool.table(0, d.owner)
		for i := range uint32(inlineMax) {
			t.insert(uint16(set.inline[i>>2] >> (16 * (i & 3))))
		}
		t.insert(v)
		set.table = t
	}
	set.n++
}

func (d *Distinct) insertTable(set *narrowSet, v uint16) {
	t := set.table
	if t.n < t.limit() {
		if t.owner != d.owner {
			t = t.clone(d.owner)
			set.table = t
		}
		t.insert(v)
		return
	}
	if t.class+1 < len(tableSizes) {
		larger := d.pool.table(t.class+1, d.owner)
		t.each(larger.insert)
		larger.insert(v)
		set.table = larger
	} else {
		b := d.pool.bitmap(d.owner)
		t.each(func(v uint16) { b.words[v>>6] |= 1 << (v & 63) })
		b.words[v>>6] |= 1 << (v & 63)
		set.bits, set.table = b, nil
	}
	if t.owner == d.owner {
		d.pool.release(t)
	}
}

// appendNarrow appends the values below 65,536 of a slot in no particular order.
func (d *Distinct) appendNarrow(dst []uint64, slot uint32) []uint64 {
	s := d.sets.Get(slot)
	switch {
	case s.bits != nil:
		for i, w := range &s.bits.words {
			for ; w != 0; w &= w - 1 {
				dst = append(dst, uint64(64*i+bits.TrailingZeros64(w)))
			}
		}
	case s.table != nil:
		s.table.each(func(v uint16) { dst = append(dst, uint64(v)) })
	default:
		for i := range s.n {
			dst = append(dst, s.inline[i>>2]>>(16*(i&3))&0xFFFF)
		}
	}
	return dst
}

// Values calls visit for each of slots with its values in ascending order, in the order of the slots. The slice is valid
// during the call.
func (d *Distinct) Values(slots []uint32, visit func(i int, values []uint64)) {
	wide := d.wide.BySlot(slots)
	var vals []uint64
	for i, s := range slots {
		vals = d.appendNarrow(vals[:0], s)
		for _, e := range wide.Of(i) {
			vals = append(vals, d.wide.Entry(e).Key)
		}
		slices.Sort(vals)
		visit(i, vals)
	}
}

// Merge adds the values of slot from[i] of another set of sets, translated by words, to the set of slot to[i], for all i.
func (d *Distinct) Merge(src *Distinct, from, to []uint32, words Import) {
	var rest []uint32
	var restTo []uint32
	for i, s := range from {
		a := src.sets.Get(s)
		b := d.sets.At(to[i])
		if !words.Same() || a.wide > 0 || a.bits == nil || b.bits == nil || b.bits.owner != d.owner {
			rest, restTo = append(rest, s), append(restTo, to[i])
			continue
		}
		n := 0
		for w := range b.bits.words {
			b.bits.words[w] |= a.bits.words[w]
			n += bits.OnesCount64(b.bits.words[w])
		}
		b.n = uint32(n)
	}
	src.Values(rest, func(i int, values []uint64) {
		for _, v := range values {
			d.AddOne(restTo[i], words.Word(v))
		}
	})
}

// Clear empties all sets and keeps what memory no fork shares.
func (d *Distinct) Clear() {
	d.sets.Clear()
	d.wide.Clear()
	d.pool.reclaim()
	d.recent.forget()
	d.shared, d.inserted = 0, 0
}

// Fork returns an independent copy.
func (d *Distinct) Fork() Distinct {
	d.shared += d.pool.bytes
	d.owner, d.pool = new(owner), narrowPool{}
	return Distinct{sets: d.sets.Fork(), wide: d.wide.Fork(), owner: new(owner), shared: d.shared, inserted: d.inserted}
}

// Bytes returns the memory held.
func (d *Distinct) Bytes() int64 {
	return d.sets.Bytes() + d.wide.Bytes() + d.pool.bytes + d.shared + d.recent.bytes()
}
