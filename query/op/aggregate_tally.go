package op

import "fednode/query/op/state"

// tally holds the accumulators of the groups of a generation that have rows in one slice of time, or in one window. Its
// memory is in proportion to these groups, not to all of the generation: where they are few, seats number their cells;
// where they are many, a group's cell has the number of the group, so that a row finds it without a look-up.
type tally struct {
	gen   *generation
	cells *cells
	seats *state.Subset // nil while the tally is dense

	// Of a dense tally: how many groups have rows at least, and what was there when they were last counted.
	groups  int
	counted int   // groups of the generation
	countAt int64 // rows
	rows    int64 // added so far
}

const (
	// A tally becomes dense when one in denseFrom groups of the generation has rows, and ceases to be when one in
	// denseUntil has not. The two are apart so that the form changes only after the number of groups has doubled.
	denseFrom  = 4
	denseUntil = 8
	// minSlots is how many groups a dense tally may have room for in any case: an array is never smaller.
	minSlots = 8
)

// worthDense reports whether a tally with so many groups should be dense.
func (g *generation) worthDense(groups int) bool { return groups > 0 && denseFrom*groups >= g.Len() }

// worthSeats reports whether a tally with so many groups, dense up to now, should have seats.
func (g *generation) worthSeats(groups int) bool {
	return denseUntil*groups < g.Len() && g.Len() > minSlots
}

// newTally returns an empty tally that expects so many groups.
func newTally(gen *generation, expected int, s *spares) tally {
	t := tally{gen: gen, counted: gen.Len()}
	if !gen.worthDense(expected) {
		t.seats = new(state.Subset)
	}
	t.cells = s.take(t.dense())
	return t
}

func (t *tally) dense() bool { return t.seats == nil }

// known returns how many groups have rows: of a dense tally at least so many.
func (t *tally) known() int {
	if t.dense() {
		return t.groups
	}
	return t.seats.Len()
}

// seat returns the cell of each of groups, a row each, and makes room for them. The result is groups itself or scratch.
// fresh of the groups are new in the generation.
func (t *tally) seat(groups []uint32, fresh int, s *spares) ([]uint32, error) {
	t.rows += int64(len(groups))
	if err := t.reform(fresh, s); err != nil {
		return nil, err
	}
	if t.dense() {
		t.cells.grow(t.gen.Len())
		return groups, nil
	}
	s.slots = t.seats.Places(s.slots, groups)
	t.cells.grow(t.seats.Len())
	return s.slots, nil
}

// reform changes the form if the groups, or those of the generation, have become more.
func (t *tally) reform(fresh int, s *spares) error {
	if !t.dense() {
		if t.gen.worthDense(t.seats.Len()) {
			return t.thicken(s)
		}
		return nil
	}
	t.groups += fresh
	if t.gen.Len() > 2*t.counted && t.gen.worthSeats(t.groups) {
		t.count()
		t.groups += fresh // their rows are yet to come
		if t.gen.worthSeats(t.groups) {
			return t.thin(s)
		}
	}
	return nil
}

// count counts the groups of a dense tally.
func (t *tally) count() {
	t.groups, t.counted, t.countAt = t.cells.countPresent(), t.gen.Len(), t.rows
}

// recount counts the groups where that costs no more than the rows since the last time, or where these are so few that
// seats are due. It reports whether known is now exact.
func (t *tally) recount() (exact bool) {
	if !t.dense() {
		return true
	}
	n := int64(t.cells.rows.Len())
	if denseUntil*t.rows >= n && denseUntil*(t.rows-t.countAt) < n {
		return false
	}
	t.count()
	return true
}

// hollow reports whether most of a dense tally's cells are of no use.
func (t *tally) hollow() bool {
	n := t.cells.rows.Len()
	return t.dense() && n > minSlots && denseUntil*t.groups < n
}

// thicken makes the tally dense.
func (t *tally) thicken(s *spares) error {
	n := t.seats.Len()
	c := s.take(true)
	c.grow(t.gen.Len())
	if err := c.merge(t.cells, upTo(n), t.slots()); err != nil {
		return err
	}
	s.give(false, t.cells)
	t.cells, t.seats = c, nil
	t.groups, t.counted, t.countAt = n, t.gen.Len(), t.rows
	return nil
}

// slots returns the group of each seat.
func (t *tally) slots() []uint32 {
	all := make([]uint32, t.seats.Len())
	for i := range all {
		all[i] = t.seats.Slot(uint32(i))
	}
	return all
}

// thin gives the groups of a dense tally seats.
func (t *tally) thin(s *spares) error {
	present := t.cells.present(nil, upTo(t.cells.rows.Len()))
	c := s.take(false)
	c.grow(len(present))
	if err := c.merge(t.cells, present, upTo(len(present))); err != nil {
		return err
	}
	s.give(true, t.cells)
	t.cells, t.seats = c, new(state.Subset)
	t.seats.Places(nil, present)
	return nil
}

// groupOf returns the group of a cell.
func (t *tally) groupOf(cell uint32) uint32 {
	if t.dense() {
		return cell
	}
	return t.seats.Slot(cell)
}

// countPresent returns how many groups have rows.
func (t *tally) countPresent() int {
	if t.dense() {
		t.count()
	}
	return t.known()
}

// present returns the groups with rows in order of their keys, in the memory of dst, and their cells, which may be the
// same slice.
func (t *tally) present(dst []uint32) (groups, at []uint32) {
	if t.dense() {
		groups = t.cells.present(dst[:0], t.gen.Order())
		return groups, groups
	}
	groups = t.inOrder(dst[:0])
	at = make([]uint32, len(groups))
	for i, s := range groups {
		at[i] = t.seats.Find(s)
	}
	return groups, at
}

// inOrder appends the groups that have a seat and rows, in order of their keys.
func (t *tally) inOrder(dst []uint32) []uint32 {
	if n := t.seats.Len(); n < t.gen.Len()/16 {
		for _, s := range t.slots() {
			if t.cells.rows.Get(t.seats.Find(s)) != 0 {
				dst = append(dst, s)
			}
		}
		t.gen.Sort(dst)
		return dst
	}
	for _, s := range t.gen.Order() {
		if at := t.seats.Find(s); at != state.None && t.cells.rows.Get(at) != 0 {
			dst = append(dst, s)
		}
	}
	return dst
}

func (t *tally) fork(gen *generation) tally {
	f := *t
	f.gen, f.cells = gen, t.cells.fork()
	if !t.dense() {
		seats := t.seats.Fork()
		f.seats = &seats
	}
	return f
}

// tallyBytes is about what a tally takes beside its tables.
const tallyBytes = 512

func (t *tally) bytes() int64 {
	n := tallyBytes + t.cells.bytes()
	if !t.dense() {
		n += t.seats.Bytes()
	}
	return n
}
