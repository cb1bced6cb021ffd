package state

import "unsafe"

// narrowTable is an open-addressing table of values below 65,536. A place holds 0 while it is free; the value 0 itself is
// a flag.
type narrowTable struct {
	places []uint16
	n      int
	class  int
	zero   bool
	owner  *owner
}

// tableSizes are the sizes of tables by class; above the last a bitmap takes no more memory than a table would.
var tableSizes = [...]int{64, 256, 1024}

// limit is how many values a table holds before it grows: three quarters of its places.
func (t *narrowTable) limit() int { return len(t.places) / 4 * 3 }

func (t *narrowTable) start(v uint16) int {
	return int(uint32(v)*0x9E3779B1>>16) & (len(t.places) - 1)
}

func (t *narrowTable) has(v uint16) bool {
	if v == 0 {
		return t.zero
	}
	for i := t.start(v); ; i = (i + 1) & (len(t.places) - 1) {
		switch t.places[i] {
		case v:
			return true
		case 0:
			return false
		}
	}
}

// insert adds a value that is not there, to a table below its limit.
func (t *narrowTable) insert(v uint16) {
	t.n++
	if v == 0 {
		t.zero = true
		return
	}
	i := t.start(v)
	for t.places[i] != 0 {
		i = (i + 1) & (len(t.places) - 1)
	}
	t.places[i] = v
}

func (t *narrowTable) each(visit func(v uint16)) {
	if t.zero {
		visit(0)
	}
	for _, v := range t.places {
		if v != 0 {
			visit(v)
		}
	}
}

func (t *narrowTable) clone(o *owner) *narrowTable {
	c := *t
	c.places, c.owner = append([]uint16(nil), t.places...), o
	return &c
}

// narrowPool hands out tables and bitmaps, many from one allocation, and takes them back when a window has closed, so
// that a steady stream of windows allocates nothing.
type narrowPool struct {
	free     [len(tableSizes)][]*narrowTable
	made     [len(tableSizes)]int // tables allocated so far
	used     []*narrowTable
	bits     []*bitmap
	madeBits int
	usedBit  []*bitmap
	bytes    int64
}

// slabTables and slabBitmaps are the most that come from one allocation; the first allocations are smaller, since a pool
// may serve a window with one large set.
const (
	slabTables  = 32
	slabBitmaps = 8
)

func (p *narrowPool) table(class int, o *owner) *narrowTable {
	free := &p.free[class]
	if len(*free) == 0 {
		size, n := tableSizes[class], min(p.made[class]+1, slabTables)
		p.made[class] += n
		tables, places := make([]narrowTable, n), make([]uint16, n*size)
		for i := range tables {
			tables[i] = narrowTable{places: places[i*size : (i+1)*size : (i+1)*size], class: class}
			*free = append(*free, &tables[i])
		}
		p.bytes += int64(n) * (int64(2*size) + int64(unsafe.Sizeof(narrowTable{})))
	}
	t := (*free)[len(*free)-1]
	*free = (*free)[:len(*free)-1]
	t.owner = o
	p.used = append(p.used, t)
	return t
}

func (p *narrowPool) bitmap(o *owner) *bitmap {
	if len(p.bits) == 0 {
		slab := make([]bitmap, min(p.madeBits+1, slabBitmaps))
		p.madeBits += len(slab)
		for i := range slab {
			p.bits = append(p.bits, &slab[i])
		}
		p.bytes += int64(len(slab)) * int64(unsafe.Sizeof(bitmap{}))
	}
	b := p.bits[len(p.bits)-1]
	p.bits = p.bits[:len(p.bits)-1]
	b.owner = o
	p.usedBit = append(p.usedBit, b)
	return b
}

// release takes back a table that has been replaced by a larger one. It stays in used, which reclaim knows by its owner.
func (p *narrowPool) release(t *narrowTable) {
	clear(t.places)
	t.n, t.zero, t.owner = 0, false, nil
	p.free[t.class] = append(p.free[t.class], t)
}

// reclaim takes back everything handed out.
func (p *narrowPool) reclaim() {
	for _, t := range p.used {
		if t.owner != nil {
			p.release(t)
		}
	}
	for _, b := range p.usedBit {
		clear(b.words[:])
		p.bits = append(p.bits, b)
	}
	p.used, p.usedBit = p.used[:0], p.usedBit[:0]
}
