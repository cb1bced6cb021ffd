package op

import (
	"errors"
	"fmt"

	"fednode/query/op/aggfn"
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// newInstance makes an operator for the kind of window.
func (a *aggregation) newInstance() Operator {
	switch a.window.kind {
	case sessionWindow:
		return newSessions(a)
	case countWindow:
		return newCounted(a)
	}
	return newGridded(a)
}

// gridded aggregates over tumbling and sliding windows. Rows are folded into the slice they fall in, once; the slices of a
// window are combined when it closes. A tumbling window is one slice.
type gridded struct {
	plan   *aggregation
	args   *arguments
	emit   *emitter
	limits Limits

	gen   *generation
	panes []*pane // by slice
	cur   *pane   // where the last rows went
	spare []*cells
	next  int64 // windows below are closed; meaningless before the first pane
	begun bool  // there has been a pane
	known *knownGroups

	boundary tuple.Time // of the input
	promised tuple.Time // of the output
	counters Counters
	split    splitter
	present  []uint32
	checks   int
}

// pane is a slice with rows: [start, end).
type pane struct {
	k     int64
	start tuple.Time
	end   tuple.Time
	gen   *generation
	cells *cells
}

func newGridded(p *aggregation) *gridded {
	g := &gridded{
		plan: p, args: newArguments(p), emit: newEmitter(p), limits: p.limits, boundary: tuple.MinTime, promised: tuple.MinTime,
		gen: newGeneration(p.keyTypes()),
	}
	if p.empty {
		g.known = newKnownGroups(p)
	}
	return g
}

func (g *gridded) Process(_ int, b *tuple.Batch, _ Out) error {
	n := b.Rows()
	if n == 0 {
		return nil
	}
	g.counters.RowsIn += uint64(n)
	first, last := timeRange(b)
	if first < g.boundary {
		return errBelowBoundary(first, g.boundary)
	}
	if g.cur != nil && first >= g.cur.start && last < g.cur.end {
		return g.add(g.cur, b)
	}
	if p := g.paneAt(first); last < p.end {
		return g.add(p, b)
	}
	return g.split.each(b, g.plan.window.grid, func(part *tuple.Batch) error { return g.add(g.paneAt(part.Time[part.Row(0)]), part) })
}

// errBelowBoundary reports a row that breaks the contract of Operator; it would change a closed window in silence.
func errBelowBoundary(t, boundary tuple.Time) error {
	return fmt.Errorf("aggregate: a row with stime %v came after the boundary %v of its port", t, boundary)
}

// add folds the selected rows of b, which all lie in p, into it.
func (g *gridded) add(p *pane, b *tuple.Batch) error {
	slots := g.args.groups(b, p.gen.Groups)
	p.gen.rows += int64(len(slots))
	p.cells.grow(p.gen.Len())
	g.args.eval(b)
	if err := p.cells.add(slots, g.args); err != nil {
		return g.plan.nameGroup(err, p.gen.Groups, nil)
	}
	return g.checkLimits(p)
}

// paneAt returns the pane of the slice that holds t, opening it if need be, and remembers it for the rows to come.
func (g *gridded) paneAt(t tuple.Time) *pane {
	if g.cur != nil && t >= g.cur.start && t < g.cur.end {
		return g.cur
	}
	grid := &g.plan.window.grid
	k := grid.index(t)
	at := len(g.panes)
	for at > 0 && g.panes[at-1].k > k {
		at--
	}
	if at > 0 && g.panes[at-1].k == k {
		g.cur = g.panes[at-1]
		return g.cur
	}
	if g.outgrown() {
		g.gen = g.gen.successor()
	}
	p := &pane{k: k, start: grid.at(k), end: grid.at(k + 1), gen: g.gen, cells: g.takeCells()}
	g.panes = append(g.panes, nil)
	copy(g.panes[at+1:], g.panes[at:])
	g.panes[at], g.cur = p, p
	// No window that covers a row to come has closed.
	if w := grid.firstWindow(k); !g.begun || w < g.next {
		g.begun, g.next = true, w
	}
	return p
}

// outgrown reports whether the next pane should begin a new generation. The open panes may have more groups than the one
// that closed last.
func (g *gridded) outgrown() bool {
	if !g.gen.outgrown() {
		return false
	}
	for _, p := range g.panes {
		if p.gen == g.gen {
			g.gen.live = max(g.gen.live, p.cells.countPresent())
		}
	}
	return g.gen.outgrown()
}

func (g *gridded) takeCells() *cells {
	if n := len(g.spare); n > 0 {
		c := g.spare[n-1]
		g.spare = g.spare[:n-1]
		return c
	}
	return newCells(g.plan)
}

// drop ends the first n panes; their memory serves the next ones.
func (g *gridded) drop(n int) {
	for _, p := range g.panes[:n] {
		if p == g.cur {
			g.cur = nil
		}
		p.cells.clear()
		if len(g.spare) < 2 {
			g.spare = append(g.spare, p.cells)
		}
	}
	g.panes = append(g.panes[:0], g.panes[n:]...)
}

func (g *gridded) Boundary(_ int, t tuple.Time, out Out) (tuple.Time, error) {
	if t <= g.boundary {
		return g.promised, nil
	}
	if err := g.closeUntil(t, out); err != nil {
		return 0, err
	}
	g.boundary = t
	if t == tuple.MaxTime {
		g.promised = t
		return t, nil
	}
	// The next result is that of the first window that ends after t: it holds t, or can still get a row.
	grid := &g.plan.window.grid
	j := grid.firstWindow(grid.index(t))
	for grid.windowEnd(j) <= t {
		j++
	}
	g.promised = max(g.promised, grid.windowEnd(j).Add(-1))
	return g.promised, nil
}

// checkLimits stops an instance that holds too much. Slots may outnumber the groups, so they are counted only when there
// are too many slots; memory is looked at now and then.
func (g *gridded) checkLimits(p *pane) error {
	if l := g.limits.Groups; l > 0 && int64(p.gen.Len()) > l {
		if int64(p.cells.countPresent()) > l {
			return &LimitError{What: "groups", Limit: l}
		}
	}
	if g.checks++; g.limits.StateBytes > 0 && g.checks&15 == 0 && g.StateBytes() > g.limits.StateBytes {
		return &LimitError{What: "state bytes", Limit: g.limits.StateBytes}
	}
	return nil
}

// SetLimits lowers the limits of the declaration.
func (g *gridded) SetLimits(l Limits) { g.limits = g.plan.limits.lower(l) }

// lower returns the lower of each limit.
func (l Limits) lower(o Limits) Limits {
	pick := func(a, b int64) int64 {
		if a == 0 || b != 0 && b < a {
			return b
		}
		return a
	}
	return Limits{Groups: pick(l.Groups, o.Groups), StateBytes: pick(l.StateBytes, o.StateBytes)}
}

// nameGroup turns a full collection into the limit error that names its group; groupOf maps a slot of accumulators to its
// group, nil when they are the same.
func (a *aggregation) nameGroup(err error, groups *state.Groups, groupOf func(uint32) uint32) error {
	var full *aggfn.FullError
	if !errors.As(err, &full) {
		return err
	}
	slot := full.Slot
	if groupOf != nil {
		slot = groupOf(slot)
	}
	cols := make([]tuple.Column, len(a.keys))
	state.NewKeyWriter(a.keyTypes()).Write(cols, groups, []uint32{slot})
	what := "collected values"
	for i, k := range a.keys {
		sep := " "
		if i == 0 {
			sep = " of group "
		}
		text := "null"
		if !cols[i].IsNull(0) {
			text = string(cols[i].AppendText(nil, 0))
		}
		what += sep + k.field.Name + "=" + text
	}
	return &LimitError{What: what, Limit: full.Limit}
}

// StateBytes counts spare memory too: it is held.
func (g *gridded) StateBytes() int64 {
	n := g.gen.Bytes()
	counted := g.gen
	for _, p := range g.panes {
		n += p.cells.bytes()
		if p.gen != g.gen && p.gen != counted { // panes of one generation follow each other
			n += p.gen.Bytes()
			counted = p.gen
		}
	}
	for _, c := range g.spare {
		n += c.bytes()
	}
	if g.known != nil {
		n += g.known.bytes()
	}
	return n
}

func (g *gridded) Counters() Counters {
	return g.emit.counters(g.args.counters(g.counters))
}
