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
	// after is true behind an operator with inputs from two places: what follows stays at the output's place.
	after bool
	into  *group // the group that took this one in
}

// top returns the group that holds what this one held.
func (g *group) top() *group {
	for g.into != nil {
		g = g.into
	}
	return g
}

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
	}
	for _, u := range order {
		c.join(u)
	}
	var groups []*group
	for _, u := range order {
		if u.into == nil {
			groups = append(groups, u)
		}
	}
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
				g.after = g.after || up.after
			}
		}
	}
	g.after = g.after || len(places) > 1
	switch {
	case c.at.Local:
		g.place, g.after = c.at.Home, false
	case g.declared != nil && !g.declared.Place.IsZero():
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

// join merges a group into those at the same place that it reads from, or that read the same stream, as far as no path
// leads out of the merged group and back into it.
func (c *cutter) join(g *group) {
	if g.declared != nil {
		return
	}
	for _, other := range c.neighbours(g) {
		a, b := other.top(), g.top()
		if a == b || a.declared != nil || a.place != b.place || a.after != b.after || c.detour(a, b) || c.detour(b, a) {
			continue
		}
		b.into = a
		a.operators = append(a.operators, b.operators...)
		c.sortOperators(a)
	}
}

// neighbours returns the groups that a group reads from, and those before it that read one of its streams.
func (c *cutter) neighbours(g *group) []*group {
	out := c.upstream(g)
	streams := map[*Stream]bool{}
	for _, o := range g.operators {
		for _, in := range o.Inputs {
			if in.Stream != nil {
				streams[in.Stream] = true
			}
		}
	}
	if len(streams) == 0 && !c.at.Local {
		return out
	}
	for _, o := range c.d.Operators {
		other := c.of[o]
		if other == nil || other.top() == g.top() {
			continue
		}
		for _, in := range o.Inputs {
			if in.Stream != nil && streams[in.Stream] {
				out = append(out, other)
				break
			}
		}
	}
	return out
}

// detour reports whether a path leads from one group to another through a third.
func (c *cutter) detour(from, to *group) bool {
	seen := map[*group]bool{}
	var back func(g *group, direct bool) bool
	back = func(g *group, direct bool) bool {
		for _, up := range c.upstream(g) {
			if up == from {
				if !direct {
					return true
				}
				continue
			}
			if !seen[up] {
				seen[up] = true
				if back(up, false) {
					return true
				}
			}
		}
		return false
	}
	return back(to, true)
}

// sortOperators puts a group's operators back into the diagram's order.
func (c *cutter) sortOperators(g *group) {
	at := make(map[*Operator]int, len(c.d.Operators))
	for i, o := range c.d.Operators {
		at[o] = i
	}
	sort.Slice(g.operators, func(i, j int) bool { return at[g.operators[i]] < at[g.operators[j]] })
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
