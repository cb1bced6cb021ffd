package op

import (
	"slices"

	"fednode/query/tuple"
)

// pane is a slice with rows: [start, end).
type pane struct {
	tally
	k     int64
	start tuple.Time
	end   tuple.Time
	noted int // groups that its generation knows of
}

// note tells the generation how many groups the pane has.
func (p *pane) note() {
	p.gen.used += p.known() - p.noted
	p.noted = p.known()
}

// paneAt returns the pane of the slice that holds t, opening it if need be, and remembers it for the rows to come.
func (g *gridded) paneAt(t tuple.Time) (*pane, error) {
	if g.cur != nil && t >= g.cur.start && t < g.cur.end {
		return g.cur, nil
	}
	k := g.plan.window.grid.index(t)
	at, found := g.find(k)
	if !found {
		g.open(at, k)
	}
	g.cur = g.panes[at]
	return g.cur, g.warmUp(g.cur)
}

// find returns where the pane of slice k is, or belongs. It is mostly the last one.
func (g *gridded) find(k int64) (at int, found bool) {
	n := len(g.panes)
	if n == 0 || g.panes[n-1].k < k {
		return n, false
	}
	return slices.BinarySearchFunc(g.panes, k, func(p *pane, k int64) int {
		switch {
		case p.k < k:
			return -1
		case p.k > k:
			return 1
		}
		return 0
	})
}

// open inserts the pane of slice k at a place.
func (g *gridded) open(at int, k int64) {
	if g.outgrown() {
		g.gen = g.gen.successor()
	}
	grid := &g.plan.window.grid
	p := &pane{k: k, start: grid.at(k), end: grid.at(k + 1), tally: newTally(g.gen, g.expectedGroups(), &g.spare)}
	g.panes = slices.Insert(g.panes, at, p)
	// No window that covers a row to come has closed.
	if w := grid.firstWindow(k); !g.begun || w < g.next {
		g.begun, g.next = true, w
	}
}

// expectedGroups guesses how many groups the next slice will have: those of the one before. A dense one may not have
// been counted lately.
func (g *gridded) expectedGroups() int {
	if g.cur != nil {
		if g.cur.dense() {
			return max(g.usual, g.cur.known())
		}
		return g.cur.known()
	}
	return g.usual
}

// outgrown reports whether the next pane should begin a new generation. Panes that get rows may have more groups than have
// been counted.
func (g *gridded) outgrown() bool {
	older := len(g.panes) > 0 && g.panes[0].gen != g.gen
	if !g.gen.outgrown(older) {
		return false
	}
	for _, p := range g.warm {
		if p.gen == g.gen {
			p.countPresent()
			p.note()
		}
	}
	return g.gen.outgrown(older)
}

// maxWarm is how many panes may hold scratch, and more memory than their groups need: rows of a stream that is nearly in
// order go to few.
const maxWarm = 4

// warmUp moves a pane to the front of the warm ones. The one that was there longest leaves.
func (g *gridded) warmUp(p *pane) error {
	at := slices.Index(g.warm, p)
	if at < 0 {
		g.warm = append(g.warm, nil)
		at = len(g.warm) - 1
	}
	copy(g.warm[1:at+1], g.warm[:at])
	g.warm[0] = p
	if len(g.warm) <= maxWarm {
		return nil
	}
	cold := g.warm[maxWarm]
	g.warm = g.warm[:maxWarm]
	return g.coolDown(cold)
}

// coolDown brings a pane down to what its groups need.
func (g *gridded) coolDown(p *pane) error {
	p.cells.release()
	if exact := p.recount(); !exact {
		return nil
	}
	g.usual = p.known()
	p.note()
	if p.hollow() {
		return p.thin(&g.spare)
	}
	return nil
}

// drop ends the first n panes; their memory serves the next ones.
func (g *gridded) drop(n int) {
	for _, p := range g.panes[:n] {
		if p == g.cur {
			g.cur = nil
		}
		if at := slices.Index(g.warm, p); at >= 0 {
			g.warm = slices.Delete(g.warm, at, at+1)
		}
		p.gen.used -= p.noted
		g.spare.give(p.dense(), p.cells)
	}
	clear(g.panes[:n])
	g.panes = g.panes[n:]
}
