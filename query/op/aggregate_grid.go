package op

import (
	"errors"
	"fmt"
	"slices"

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
	warm  []*pane // where rows went lately, the last first
	usual int     // groups of a slice, as far as is known
	spare spares
	next  int64 // windows below are closed; meaningless before the first pane
	begun bool  // there has been a pane
	known *knownGroups

	boundary tuple.Time // of the input
	promised tuple.Time // of the output
	counters Counters
	split    splitter
	present  []uint32
	checks   int // parts since the memory was looked at
}

func newGridded(p *aggregation) *gridded {
	g := &gridded{
		plan: p, args: newArguments(p), emit: newEmitter(p), limits: p.limits, boundary: tuple.MinTime, promised: tuple.MinTime,
		gen: newGeneration(p.keyTypes()), spare: spares{plan: p},
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
	p, err := g.paneAt(first)
	if err != nil {
		return err
	}
	if last < p.end {
		return g.add(p, b)
	}
	return g.split.each(b, g.plan.window.grid, g.addPart)
}

// addPart is add for rows of one slice.
func (g *gridded) addPart(part *tuple.Batch) error {
	p, err := g.paneAt(part.Time[part.Row(0)])
	if err != nil {
		return err
	}
	return g.add(p, part)
}

// errBelowBoundary reports a row that breaks the contract of Operator; it would change a closed window in silence.
func errBelowBoundary(t, boundary tuple.Time) error {
	return fmt.Errorf("aggregate: a row with stime %v came after the boundary %v of its port", t, boundary)
}

// add folds the selected rows of b, which all lie in p, into it.
func (g *gridded) add(p *pane, b *tuple.Batch) error {
	before := p.gen.rowed()
	groups := g.args.groups(b, p.gen.Groups)
	p.gen.rows += int64(len(groups))
	slots, err := p.seat(groups, p.gen.rowed()-before, &g.spare)
	p.note()
	if err == nil {
		g.args.eval(b)
		err = p.cells.add(slots, g.args)
	}
	if err != nil {
		return g.plan.nameGroup(err, p.gen.Groups, p.groupOf)
	}
	return g.checkLimits(p)
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

// checkLimits stops an instance that holds too much. The groups of a dense pane are counted only when there are too many
// slots; memory is looked at now and then, less often the more panes there are to ask.
func (g *gridded) checkLimits(p *pane) error {
	if l := g.limits.Groups; l > 0 && int64(p.gen.Len()) > l {
		if int64(p.countPresent()) > l {
			return &LimitError{What: "groups", Limit: l}
		}
	}
	g.checks++
	if l := g.limits.StateBytes; l > 0 && g.checks >= 16+len(g.panes)/4 {
		g.checks = 0
		if g.StateBytes() > l {
			return &LimitError{What: "state bytes", Limit: l}
		}
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
	n := g.gen.Bytes() + g.spare.bytes()
	counted := []*generation{g.gen}
	for _, p := range g.panes {
		n += p.bytes()
		if !slices.Contains(counted, p.gen) {
			counted = append(counted, p.gen)
			n += p.gen.Bytes()
		}
	}
	if g.known != nil {
		n += g.known.bytes()
	}
	return n
}

func (g *gridded) Counters() Counters {
	return g.emit.counters(g.args.counters(g.counters))
}
