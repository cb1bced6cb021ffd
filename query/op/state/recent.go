package state

// recentPairs remembers pairs of a slot and a value below 65,536 that are in a set already, each at one place: where there
// are many sets, most rows repeat a pair, and a look here costs less than finding the form of its set and searching that.
// It is a cache, not state.
type recentPairs struct {
	tags   []uint32 // by place; 0 is none
	misses []uint32
}

const (
	// recentFrom is the number of values from which on the cache pays, and takes no more memory than the sets.
	recentFrom = 1 << 14
	recentBits = 17
	pairBits   = 48
)

// missing returns the rows whose pair is not known to be in its set, and remembers theirs: the caller adds them. The result
// is valid until the next call.
func (r *recentPairs) missing(slots []uint32, vals []int64) []uint32 {
	if r.tags == nil {
		r.tags = make([]uint32, 1<<recentBits)
	}
	r.misses = resize(r.misses, len(slots))
	n := 0
	tags, misses := (*[1 << recentBits]uint32)(r.tags), r.misses
	for i, slot := range slots {
		v := uint64(vals[i])
		// Multiplying by an odd number maps 48 bits one to one: place and tag together are the pair, so a hit is certain.
		mixed := (uint64(slot)<<16 | v&0xFFFF) * 0x9E3779B97F4A7C15
		at := mixed >> (pairBits - recentBits) & (1<<recentBits - 1)
		tag := uint32(mixed) | 1<<31 // 31 bits, and never 0
		misses[n] = uint32(i)
		if tags[at] != tag || v>>16 != 0 {
			n++
		}
		if v>>16 == 0 {
			tags[at] = tag
		}
	}
	return misses[:n]
}

// forget is for when the sets become empty.
func (r *recentPairs) forget() { clear(r.tags) }
