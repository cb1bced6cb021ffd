package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// Snapshot writes the keys of all slices once, in order, and then each slice by places among them.
func (g *gridded) Snapshot(e *tuple.Encoder) {
	e.Time(g.boundary)
	e.Time(g.promised)
	e.Bool(g.begun)
	e.Int(g.next)
	if g.known != nil {
		g.known.snapshot(e)
	}
	all := newGathered(g.plan.keyTypes())
	at, ids := make([][]uint32, len(g.panes)), make([][]uint32, len(g.panes))
	for i, p := range g.panes {
		groups, cells := p.present(nil)
		at[i], ids[i] = cells, all.add(p.gen, groups)
	}
	order := all.Order()
	place := make([]uint32, len(order))
	for i, s := range order {
		place[s] = uint32(i)
	}
	all.Snapshot(e, order)
	e.Uint(uint64(len(g.panes)))
	for i, p := range g.panes {
		e.Int(p.k)
		for j, s := range ids[i] {
			ids[i][j] = place[s]
		}
		e.Uint32s(ids[i])
		p.cells.snapshot(e, at[i])
	}
}

// gathered numbers the groups of several generations in one table, each group of a generation once.
type gathered struct {
	*state.Groups
	moved map[*generation][]uint32 // by slot there: slot here, or None
}

func newGathered(types []tuple.Type) *gathered {
	return &gathered{Groups: state.NewGroups(types), moved: map[*generation][]uint32{}}
}

// add returns the slots here of groups of a generation.
func (a *gathered) add(gen *generation, groups []uint32) []uint32 {
	moved := a.moved[gen]
	for len(moved) < gen.Len() {
		moved = append(moved, state.None)
	}
	a.moved[gen] = moved
	var fresh []uint32
	for _, s := range groups {
		if moved[s] == state.None {
			fresh = append(fresh, s)
		}
	}
	if len(fresh) > 0 {
		for i, id := range a.Import(gen.Groups, fresh) {
			moved[fresh[i]] = id
		}
	}
	ids := make([]uint32, len(groups))
	for i, s := range groups {
		ids[i] = moved[s]
	}
	return ids
}

// Restore reads what Snapshot wrote.
func (g *gridded) Restore(d *tuple.Decoder) {
	g.boundary, g.promised, g.begun, g.next = d.Time(), d.Time(), d.Bool(), d.Int()
	if g.known != nil {
		g.known.restore(d)
	}
	n := g.gen.Restore(d)
	g.gen.live = n
	grid := &g.plan.window.grid
	for range d.Count(2) {
		p := &pane{k: d.Int(), tally: newTally(g.gen, 0, &g.spare)}
		if len(g.panes) > 0 && p.k <= g.panes[len(g.panes)-1].k {
			d.Fail("slices out of order")
		}
		p.start, p.end = grid.at(p.k), grid.at(p.k+1)
		places := readPlaces(d, n)
		if d.Err() != nil {
			return
		}
		if p.cells.restore(d, len(places)); d.Err() != nil {
			return
		}
		// It becomes dense with its next rows, if it is worth it.
		p.seats.Places(nil, places)
		p.note()
		g.panes = append(g.panes, p)
	}
}

// readPlaces reads rising numbers below n.
func readPlaces(d *tuple.Decoder, n int) []uint32 {
	places := d.Uint32s()
	for i, p := range places {
		if int(p) >= n || i > 0 && p <= places[i-1] {
			d.Fail("place %d of %d", p, n)
			return nil
		}
	}
	return places
}

// upTo returns 0 to n-1.
func upTo(n int) []uint32 {
	s := make([]uint32, n)
	for i := range s {
		s[i] = uint32(i)
	}
	return s
}

// Fork shares all tables page by page.
func (g *gridded) Fork() Operator {
	f := newGridded(g.plan)
	f.limits, f.usual, f.next, f.begun, f.boundary, f.promised = g.limits, g.usual, g.next, g.begun, g.boundary, g.promised
	if g.known != nil {
		f.known = g.known.fork()
	}
	copies := map[*generation]*generation{}
	twin := func(of *generation) *generation {
		if copies[of] == nil {
			copies[of] = of.fork()
		}
		return copies[of]
	}
	f.gen = twin(g.gen)
	for _, p := range g.panes {
		c := &pane{k: p.k, start: p.start, end: p.end, noted: p.noted, tally: p.fork(twin(p.gen))}
		f.panes = append(f.panes, c)
	}
	return f
}
