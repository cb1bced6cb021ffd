package op

import "fednode/query/tuple"

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
	gen, c := g.gen, (*cells)(nil)
	if grid.slices() == 1 && n == 1 {
		gen, c = g.panes[0].gen, g.panes[0].cells
	} else {
		c = g.takeCells()
		defer func() {
			c.clear()
			g.spare = append(g.spare, c)
		}()
		for _, p := range g.panes[:n] {
			if err := g.combine(gen, c, p); err != nil {
				return err
			}
		}
	}
	g.present = c.present(g.present[:0], gen.Order())
	gen.live = len(g.present)
	if g.known != nil {
		g.present = g.known.complete(g.present, gen.Groups, r.window.end)
		c.grow(gen.Len())
		if l := g.limits.Groups; l > 0 && int64(g.known.groups.Len()) > l {
			return &LimitError{What: "known groups", Limit: l}
		}
	}
	r.groups, r.cells, r.groupSlots, r.cellSlots = gen.Groups, c, g.present, g.present
	return g.emit.emit(r, out)
}

// combine adds a slice to the accumulators of a window, whose groups are those of gen.
func (g *gridded) combine(gen *generation, c *cells, p *pane) error {
	from := p.cells.present(nil, p.gen.Order())
	to := from
	if p.gen != gen {
		to = append([]uint32(nil), gen.Import(p.gen.Groups, from)...)
	}
	c.grow(gen.Len())
	if err := c.merge(p.cells, from, to); err != nil {
		return g.plan.nameGroup(err, gen.Groups, nil)
	}
	return nil
}
