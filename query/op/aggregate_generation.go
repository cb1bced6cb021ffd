package op

import (
	"fednode/query/op/state"
	"fednode/query/tuple"
)

// generation is a table of groups that several panes share, so that a key which returns window after window is numbered
// once. When most of its keys have not been seen for a while the next pane begins a new generation, and the old one goes
// with its last pane: that bounds the keys that are kept.
type generation struct {
	*state.Groups
	live int   // groups of the pane that closed last
	used int   // groups of the open panes, at least: one of two panes counts twice
	rows int64 // rows looked up so far
}

func newGeneration(types []tuple.Type) *generation {
	return &generation{Groups: state.NewGroups(types)}
}

// outgrown reports whether most keys are stale. Keys that were numbered ahead of their first row, a dictionary at a time,
// are not worth numbering again unless many rows have paid for it, or they are far too many; and not while slices of an
// older generation are open, which do not end soon, so that every generation would stay.
func (g *generation) outgrown(older bool) bool {
	n, live := g.Len(), max(g.live, g.used)
	switch {
	case g.rowed() > 2*live+minDead:
		return true
	case older:
		return false
	}
	return n > 2*live+4*minDead && g.rows >= 4*int64(n) || n > 8*live+tuple.DictMaxValues
}

// rowed returns how many keys were numbered for a row.
func (g *generation) rowed() int { return g.Len() - g.Ahead() }

// minDead is how much may be out of use before making room is worth the work.
const minDead = 256

// successor returns an empty generation that expects as many live keys.
func (g *generation) successor() *generation {
	return &generation{Groups: state.NewGroups(g.Types()), live: g.live}
}

// fork returns an independent copy.
func (g *generation) fork() *generation {
	return &generation{Groups: g.Groups.Fork(), live: g.live, used: g.used, rows: g.rows}
}
