package op

// spares keep a few emptied accumulators for the next slices, of each form apart: what a dense tally leaves would be much
// too large for a few seats. They also hold scratch that tallies share.
type spares struct {
	plan  *aggregation
	free  [2][]*cells // with seats, dense
	slots []uint32    // of seat
}

// maxSpares is how many of a form are kept: a window that closes needs one, and the next slice.
const maxSpares = 2

func formOf(dense bool) int {
	if dense {
		return 1
	}
	return 0
}

// take returns empty accumulators.
func (s *spares) take(dense bool) *cells {
	free := &s.free[formOf(dense)]
	if n := len(*free); n > 0 {
		c := (*free)[n-1]
		*free = (*free)[:n-1]
		return c
	}
	return newCells(s.plan)
}

// give takes accumulators back.
func (s *spares) give(dense bool, c *cells) {
	if free := &s.free[formOf(dense)]; len(*free) < maxSpares {
		c.clear()
		*free = append(*free, c)
	}
}

func (s *spares) bytes() int64 {
	var n int64
	for _, free := range s.free {
		for _, c := range free {
			n += c.bytes()
		}
	}
	return n
}
