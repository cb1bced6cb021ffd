package query

import (
	"sort"
	"strings"

	"fednode/query/spec"
)

// group is a fragment in the making: operators that will run together.
type group struct {
	name      string
	declared  *Fragment // nil for one that the default cut makes
	operators []*Operator
	place     Place
	// after is true from an operator with inputs from two places on, and behind a fragment that the file places: these run
	// at the output's place.
	after bool
	rank  int
	into  *group // the group that took this one in
}

// top returns the group that holds what this one held.
func (g *group) top() *group {
	for g.into != nil {
		g = g.into
	}
	return g
}

// placed reports whether the file says where the group runs.
func (g *group) placed() bool { return g.declared != nil && !g.declared.Place.IsZero() }

// cutter cuts one diagram.
type cutter struct {
	d     *Diagram
	at    Placement
	of    map[*Operator]*group
	units []*group
	ends  map[*Operator]Place // place of the first output downstream
}

// cut returns the groups of a diagram in topological order, nil if the declared fragments depend on each other in a
// cycle.
func cut(d *Diagram, at Placement, p *spec.Problems) []*group {
	c := &cutter{d: d, at: at, of: map[*Operator]*group{}, ends: map[*Operator]Place{}}
	c.makeUnits()
	order, ok := c.order(c.units)
	if !ok {
		c.reportCycle(order, p)
		return nil
	}
	c.findEnds()
	for _, u := range order {
		c.put(u)
		c.rank(u)
	}
	c.join()
	var groups []*group
	for _, u := range order {
		if u.into == nil {
			groups = append(groups, u)
		}
	}
	c.sortOperators(groups)
	c.name(groups)
	groups, _ = c.order(groups)
	if groups == nil {
		groups = []*group{}
	}
	return groups
}

// makeUnits makes a group of each declared fragment and of each other operator.
func (c *cutter) makeUnits() {
	if !c.at.Local {
		for _, f := range c.d.Fragments {
			g := &group{name: f.Name, declared: f}
			for _, o := range f.Operators {
				if o.Used {
					c.of[o] = g
				}
			}
		}
	}
	seen := map[*group]bool{}
	for _, o := range c.d.Operators { // topological, so a group's operators are too
		if !o.Used {
			continue
		}
		g := c.of[o]
		if g == nil {
			g = &group{name: o.Name}
			c.of[o] = g
		}
		g.operators = append(g.operators, o)
		if !seen[g] {
			seen[g] = true
			c.units = append(c.units, g)
		}
	}
}

// upstream returns the groups that a group reads from, itself not among them, in order of first use.
func (c *cutter) upstream(g *group) []*group {
	var out []*group
	seen := map[*group]bool{g: true}
	for _, o := range g.operators {
		for _, in := range o.Inputs {
			if in.Operator == nil {
				continue
			}
			if up := c.of[in.Operator].top(); !seen[up] {
				seen[up] = true
				out = append(out, up)
			}
		}
	}
	return out
}

// order sorts groups upstream first, ties by name; if there is a cycle, ok is false and the result is what is on it or
// behind it.
func (c *cutter) order(groups []*group) (order []*group, ok bool) {
	waits := map[*group]int{}
	readers := map[*group][]*group{}
	var ready []*group
	for _, g := range groups {
		for _, up := range c.upstream(g) {
			waits[g]++
			readers[up] = append(readers[up], g)
		}
		if waits[g] == 0 {
			ready = append(ready, g)
		}
	}
	for len(ready) > 0 {
		sort.Slice(ready, func(i, j int) bool { return ready[i].name < ready[j].name })
		g := ready[0]
		ready = ready[1:]
		order = append(order, g)
		for _, r := range readers[g] {
			if waits[r]--; waits[r] == 0 {
				ready = append(ready, r)
			}
		}
	}
	if len(order) == len(groups) {
		return order, true
	}
	order = nil
	for _, g := range groups {
		if waits[g] > 0 {
			order = append(order, g)
		}
	}
	return order, false
}

// reportCycle says which declared fragments make the cut impossible.
func (c *cutter) reportCycle(cyclic []*group, p *spec.Problems) {
	var names []string
	var first *Fragment
	for _, g := range cyclic {
		names = append(names, g.name)
		if first == nil && g.declared != nil {
			first = g.declared
		}
	}
	if len(names) > 12 {
		names = append(names[:12], "…")
	}
	p.Add(first.Pos, "fragments."+first.Name, "put what lies between them into one of the fragments",
		"the fragments would read each other in a cycle: %s", strings.Join(names, ", "))
}

// findEnds finds the place of the first output, by name, that each operator leads to.
func (c *cutter) findEnds() {
	for _, out := range c.d.Outputs {
		place := out.Place.at(c.at.Home)
		var mark func(Ref)
		mark = func(r Ref) {
			if r.Operator == nil {
				return
			}
			if _, ok := c.ends[r.Operator]; ok {
				return
			}
			c.ends[r.Operator] = place
			for _, in := range r.Operator.Inputs {
				mark(in)
			}
		}
		mark(out.Input)
	}
}

// put settles where a group runs; all upstream of it have been put.
func (c *cutter) put(g *group) {
	places := map[Place]bool{}
	for _, o := range g.operators {
		for _, in := range o.Inputs {
			if in.Operator == nil {
				places[c.sourcePlace(in.Stream)] = true
			} else if up := c.of[in.Operator]; up != g {
				places[up.place] = true
				g.after = g.after || up.after || up.placed()
			}
		}
	}
	g.after = g.after || len(places) > 1
	switch {
	case c.at.Local:
		g.place, g.after = c.at.Home, false
	case g.placed():
		g.place = g.declared.Place.at(c.at.Home)
	case g.after:
		g.place = c.ends[g.operators[len(g.operators)-1]]
	default:
		for p := range places {
			g.place = p
		}
	}
}

// sourcePlace returns where a stream enters.
func (c *cutter) sourcePlace(s *Stream) Place { return s.placeAt(c.at) }

// placeAt returns where a stream enters: its place; else its owner's organisation, or home.
func (s *Stream) placeAt(at Placement) Place {
	if at.Local {
		return at.Home
	}
	p := s.Place
	if p.Org == "" && s.Foreign != "" {
		p.Org = owner(s.Foreign)
	}
	return p.at(at.Home)
}

// colour is what the operators of a default fragment have in common.
type colour struct {
	place    Place
	after    bool
	declared *Fragment
}

func (g *group) colour() colour { return colour{place: g.place, after: g.after, declared: g.declared} }

// rank counts how often the longest path to a group changes its colour; all upstream of it have been ranked.
func (c *cutter) rank(g *group) {
	for _, up := range c.upstream(g) {
		step := 0
		if up.colour() != g.colour() {
			step = 1
		}
		g.rank = max(g.rank, up.rank+step)
	}
}

// join merges groups of one colour and one rank that read each other or the same stream. Whatever leaves such a group
// goes to a higher rank, so no path leads back into it, and fragments cannot depend on each other in a cycle.
func (c *cutter) join() {
	type reader struct {
		stream *Stream
		colour colour
		rank   int
	}
	first := map[reader]*group{}
	for _, o := range c.d.Operators {
		g := c.of[o]
		if g == nil || g.declared != nil {
			continue
		}
		for _, in := range o.Inputs {
			if in.Stream == nil {
				c.merge(c.of[in.Operator], g)
				continue
			}
			key := reader{stream: in.Stream, colour: g.colour(), rank: g.rank}
			if first[key] == nil {
				first[key] = g
			}
			c.merge(first[key], g)
		}
	}
}

// merge puts two groups together if they belong together.
func (c *cutter) merge(a, b *group) {
	if a.colour() != b.colour() || a.rank != b.rank {
		return
	}
	a, b = a.top(), b.top()
	if a == b {
		return
	}
	if len(a.operators) < len(b.operators) {
		a, b = b, a
	}
	b.into = a
	a.operators = append(a.operators, b.operators...)
}

// sortOperators puts each group's operators back into the diagram's order.
func (c *cutter) sortOperators(groups []*group) {
	at := make(map[*Operator]int, len(c.d.Operators))
	for i, o := range c.d.Operators {
		at[o] = i
	}
	for _, g := range groups {
		sort.Slice(g.operators, func(i, j int) bool { return at[g.operators[i]] < at[g.operators[j]] })
	}
}

// name gives each group that is not declared the name of its last operator, with a mark if a declared one has it.
func (c *cutter) name(groups []*group) {
	taken := map[string]bool{}
	for _, f := range c.d.Fragments {
		taken[f.Name] = true
	}
	for _, g := range groups {
		if g.declared != nil {
			continue
		}
		g.name = g.operators[len(g.operators)-1].Name
		for taken[g.name] {
			g.name += "_"
		}
		taken[g.name] = true
	}
}
