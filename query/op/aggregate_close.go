package op

import (
	"slices"

	"fednode/query/tuple"
)

// closeUntil emits the windows that end at or before t, in order, and lets the slices go that no open window has.
func (g *gridded) closeUntil(t tuple.Time, out Out) error {
	grid := &g.plan.window.grid
	for g.begun {
		j := g.next
		if !g.emitsEmpty(t) {
			if len(g.panes) == 0 {
				return nil
			}
			j = max(j, grid.firstWindow(g.panes[0].k))
		}
		if grid.windowEnd(j) > t {
			return nil
		}
		if err := g.closeWindow(j, out); err != nil {
			return err
		}
		g.next = j + 1
		from := g.next * grid.step()
		stale := 0
		for stale < len(g.panes) && g.panes[stale].k < from {
			stale++
		}
		g.drop(stale)
	}
	return nil
}

// emitsEmpty reports whether windows without a row are due before t: while groups are known, and not beyond the last row
// at the end of the stream.
func (g *gridded) emitsEmpty(t tuple.Time) bool {
	return g.known != nil && g.known.some() && (t != tuple.MaxTime || len(g.panes) > 0)
}

// closeWindow emits window j.
func (g *gridded) closeWindow(j int64, out Out) error {
	grid := &g.plan.window.grid
	first := j * grid.step()
	n := 0
	for n < len(g.panes) && g.panes[n].k < first+grid.slices() {
		n++
	}
	r := results{window: bounds{start: grid.windowStart(j), end: grid.windowEnd(j)}}
	if grid.slices() == 1 && n == 1 {
		return g.emitWindow(&g.panes[0].tally, r, out)
	}
	t, err := g.combine(g.panes[:n])
	if err != nil {
		return err
	}
	defer func() { g.spare.give(t.dense(), t.cells) }()
	return g.emitWindow(t, r, out)
}

// emitWindow emits the groups of t that have rows, and those that are known.
func (g *gridded) emitWindow(t *tally, r results, out Out) error {
	groups, at := t.present(g.present)
	t.gen.live, g.usual = len(groups), len(groups)
	if g.known != nil {
		groups = g.known.complete(groups, t.gen.Groups, r.window.end)
		if l := g.limits.Groups; l > 0 && int64(g.known.groups.Len()) > l {
			return &LimitError{What: "known groups", Limit: l}
		}
		var err error
		if at, err = t.seat(groups, 0, &g.spare); err != nil {
			return err
		}
	}
	g.present = groups
	r.groups, r.cells, r.groupSlots, r.cellSlots = t.gen.Groups, t.cells, groups, at
	return g.emit.emit(r, out)
}

// combine returns the accumulators of a window whose slices are panes.
func (g *gridded) combine(panes []*pane) (*tally, error) {
	most := 0
	for _, p := range panes {
		if most = max(most, p.known()); p.dense() {
			most = g.gen.Len()
		}
	}
	t := newTally(g.gen, most, &g.spare)
	for _, p := range panes {
		if err := g.combineOne(&t, p); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

// combineOne adds a slice to a window.
func (g *gridded) combineOne(t *tally, p *pane) error {
	groups, from := p.present(nil)
	if p.gen != t.gen {
		groups = slices.Clone(t.gen.Import(p.gen.Groups, groups))
	}
	to, err := t.seat(groups, 0, &g.spare)
	if err == nil {
		err = t.cells.merge(p.cells, from, to)
	}
	if err != nil {
		return g.plan.nameGroup(err, t.gen.Groups, t.groupOf)
	}
	return nil
}
