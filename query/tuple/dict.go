package tuple

import "math"

// Lineage identifies one growing dictionary: all snapshots of it share the lineage, and a code means the same value in
// each snapshot that reaches it. It is the key under which an operator caches what it knows about codes.
type Lineage struct {
	// Not zero-sized: two zero-sized allocations may have one address.
	_ uint64
}

// Dict is an immutable snapshot of an append-only list of binary values, addressed by code. Later snapshots of the
// same lineage only add codes. In a Distinct dictionary two codes never hold equal values; where Distinct is false
// (plain, unencoded columns: code i is row i) equal values may have several codes.
type Dict struct {
	line     *Lineage
	off      []uint32 // len = values+1
	data     []byte
	distinct bool
}

// NewDict returns a dictionary over values laid end to end in data: value i is data[off[i]:off[i+1]]. The slices are
// handed over. off has at least one entry, starts anywhere and does not fall.
func NewDict(off []uint32, data []byte, distinct bool) *Dict {
	return &Dict{line: new(Lineage), off: off, data: data, distinct: distinct}
}

// Lineage returns the identity that all snapshots of this dictionary share.
func (d *Dict) Lineage() *Lineage { return d.line }

// Len returns the number of values.
func (d *Dict) Len() int { return len(d.off) - 1 }

// Distinct reports whether no two codes hold equal values.
func (d *Dict) Distinct() bool { return d.distinct }

// At returns the value of a code; the caller does not change it.
func (d *Dict) At(code uint32) []byte { return d.data[d.off[code]:d.off[code+1]:d.off[code+1]] }

// Size returns the bytes of all values together.
func (d *Dict) Size() int { return int(d.off[len(d.off)-1] - d.off[0]) }

// Raw returns the offsets and the data, for writers that copy them whole; the caller does not change them.
func (d *Dict) Raw() (off []uint32, data []byte) { return d.off, d.data }

// Limits of a dictionary that stays a dictionary: above either, a stream's strings go plain.
const (
	DictMaxValues = 65536
	DictMaxBytes  = 4 << 20
)

// DictBuilder interns values into one growing dictionary. The zero value is not usable; use NewDictBuilder.
type DictBuilder struct {
	line  *Lineage
	off   []uint32
	data  []byte
	table []uint32 // open addressing: code+1, 0 is empty
	hash  []uint32 // low half of the hash of each code, to grow without rehashing and to skip comparisons
	seed  uint64
	snap  *Dict
}

// NewDictBuilder returns an empty builder.
func NewDictBuilder() *DictBuilder {
	b := &DictBuilder{}
	b.Reset()
	return b
}

// Reset begins a new dictionary with a lineage of its own; snapshots taken before stay valid.
func (b *DictBuilder) Reset() {
	*b = DictBuilder{line: new(Lineage), off: make([]uint32, 1, 64), table: make([]uint32, 64)}
}

// Len returns the number of values.
func (b *DictBuilder) Len() int { return len(b.off) - 1 }

// Size returns the bytes of all values together.
func (b *DictBuilder) Size() int { return len(b.data) }

// At returns the value of a code; valid for ever, since values are never moved once written into a snapshot.
func (b *DictBuilder) At(code uint32) []byte { return b.data[b.off[code]:b.off[code+1]] }

// Full reports whether the dictionary has passed DictMaxValues or DictMaxBytes.
func (b *DictBuilder) Full() bool { return b.Len() >= DictMaxValues || len(b.data) >= DictMaxBytes }

// HashBytes is the hash the engine uses for binary values: the same on every machine and in every run, so that what it
// decides (sampling, partitions) is too.
func HashBytes(v []byte) uint64 {
	const m = 0x9E3779B97F4A7C15
	h := uint64(len(v)) * m
	for len(v) >= 8 {
		h = (h ^ le64(v)) * m
		h ^= h >> 29
		v = v[8:]
	}
	if len(v) > 0 {
		var tail uint64
		for i, c := range v {
			tail |= uint64(c) << (8 * uint(i))
		}
		h = (h ^ tail) * m
		h ^= h >> 29
	}
	return Mix64(h)
}

// Mix64 spreads the bits of h over the whole word (the finaliser of splitmix64).
func Mix64(h uint64) uint64 {
	h ^= h >> 30
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 27
	h *= 0x94D049BB133111EB
	return h ^ h>>31
}

func le64(b []byte) uint64 {
	_ = b[7]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// Find returns the code of v if it is in the dictionary.
func (b *DictBuilder) Find(v []byte) (uint32, bool) {
	h := uint32(HashBytes(v))
	mask := uint32(len(b.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		c := b.table[i]
		if c == 0 {
			return 0, false
		}
		if b.hash[c-1] == h && string(b.At(c-1)) == string(v) {
			return c - 1, true
		}
	}
}

// Intern returns the code of v, adding v if it is new. The bytes are copied. It panics when the data pass 4 GiB; callers
// bound it far below.
func (b *DictBuilder) Intern(v []byte) uint32 {
	h := uint32(HashBytes(v))
	mask := uint32(len(b.table) - 1)
	i := h & mask
	for ; ; i = (i + 1) & mask {
		c := b.table[i]
		if c == 0 {
			break
		}
		if b.hash[c-1] == h && string(b.At(c-1)) == string(v) {
			return c - 1
		}
	}
	code := uint32(b.Len())
	if uint64(len(b.data))+uint64(len(v)) > math.MaxUint32 {
		panic("tuple: dictionary data above 4 GiB")
	}
	b.data = append(b.data, v...)
	b.off = append(b.off, uint32(len(b.data)))
	b.hash = append(b.hash, h)
	b.table[i] = code + 1
	if 2*len(b.hash) > len(b.table) {
		b.grow()
	}
	return code
}

func (b *DictBuilder) grow() {
	table := make([]uint32, 2*len(b.table))
	mask := uint32(len(table) - 1)
	for code, h := range b.hash {
		i := h & mask
		for table[i] != 0 {
			i = (i + 1) & mask
		}
		table[i] = uint32(code) + 1
	}
	b.table = table
}

// Dict returns a snapshot of what has been interned so far. It costs nothing when nothing was added since the last one.
func (b *DictBuilder) Dict() *Dict {
	if b.snap == nil || b.snap.Len() != b.Len() {
		// Appending never changes what a snapshot sees: it holds its own lengths, and capacities are cut off.
		b.snap = &Dict{line: b.line, off: b.off[:len(b.off):len(b.off)], data: b.data[:len(b.data):len(b.data)], distinct: true}
	}
	return b.snap
}
