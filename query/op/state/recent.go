package state

// recentPairs remembers pairs of a slot and a value below 65,536 that are in a set already, each at one place: where there
// are many sets, most rows repeat a pair, and a look here costs less than finding the form of its set and searching that.
// It is a cache, not state.
type recentPairs struct {
	tags   *[recentPlaces]uint32 // 0 is none
	misses []uint32
	off    bool // larger values came: the cache is of no use until the sets are empty
}

const (
	// recentFrom is the number of values, and recentSets that of sets, from which on the cache pays, and takes no more than
	// twice what the sets do.
	recentFrom   = 1 << 14
	recentSets   = 1 << 12
	recentBits   = 17
	recentPlaces = 1 << recentBits
	// A pair has 48 bits; what the place does not say of it is in the tag.
	pairBits = 48
	tagBits  = pairBits - recentBits
)

// missing returns the rows whose pair is not known to be in its set, and remembers theirs: the caller adds them. The
// result is valid until the next call.
func (r *recentPairs) missing(slots []uint32, vals []int64) []uint32 {
	if r.tags == nil {
		r.tags = new([recentPlaces]uint32)
	}
	r.misses = resize(r.misses, len(slots))
	tags, misses := r.tags, r.misses
	n, all := 0, uint64(0)
	// No branch in here: whether a pair is known cannot be predicted.
	for i, slot := range slots {
		v := uint64(vals[i])
		all |= v
		// Multiplying by an odd number maps 48 bits one to one: place and tag together are the pair, so a hit is certain.
		mixed := (uint64(slot)<<16 | v&0xFFFF) * 0x9E3779B97F4A7C15
		place := &tags[mixed>>tagBits&(recentPlaces-1)]
		tag := uint32(mixed)&(1<<tagBits-1) | 1<<tagBits // never 0
		differs := uint64(*place ^ tag)
		*place = tag
		misses[n] = uint32(i)
		n += int(-differs >> 63)
	}
	if all>>16 != 0 {
		return r.giveUp(len(slots))
	}
	return misses[:n]
}

// giveUp is for a batch with values above 65,535, which the loop took for others: the cache may say that pairs are there
// which are not. Every row counts as missing.
func (r *recentPairs) giveUp(n int) []uint32 {
	r.tags, r.off = nil, true
	for i := range n {
		r.misses[i] = uint32(i)
	}
	return r.misses[:n]
}

// forget is for when the sets become empty.
func (r *recentPairs) forget() {
	if r.tags != nil {
		clear(r.tags[:])
	}
	r.off = false
}

func (r *recentPairs) bytes() int64 {
	if r.tags == nil {
		return 0
	}
	return 4 * recentPlaces
}
