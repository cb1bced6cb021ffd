package balance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Operator is a step of a diagram as far as placement goes.
type Operator struct {
	Name  string
	Needs []Capability
	// Required labels a node must have.
	Required Labels
	// Inputs are the places in Graph.Operators of what it reads; none for a source.
	Inputs []int
}

// Graph is a diagram as far as placement goes: operators, and which reads which. It has no cycle; its parts need not hang
// together.
type Graph struct{ Operators []Operator }

// Run is a unit in the making.
type Run struct {
	// Operators are places in Graph.Operators, in the order in which the search came to them; each reads earlier ones or
	// other runs.
	Operators []int
	// Able are the nodes that can run all of them, in order of name; one at least.
	Able []NodeID
}

// Segment cuts a graph into runs, depth-first from the sources. A run goes on as long as the next operator does not shrink the
// set of nodes able to run it; otherwise a new one begins. Runs read each other without a cycle, so that each can wait for
// its inputs. Every problem is reported at once.
func Segment(g Graph, nodes []Node) ([]Run, error) {
	s := &segmenter{g: g, of: make([]int, len(g.Operators)), missing: make([]int, len(g.Operators)), readers: make([][]int, len(g.Operators))}
	if err := s.prepare(nodes); err != nil {
		return nil, err
	}
	for i := range g.Operators {
		if len(g.Operators[i].Inputs) == 0 {
			s.visit(i, -1)
		}
	}
	runs := make([]Run, len(s.runs))
	for i, r := range s.runs {
		runs[i].Operators = r.operators
		for k, able := range r.able {
			if able {
				runs[i].Able = append(runs[i].Able, s.nodes[k].ID)
			}
		}
	}
	return runs, nil
}

// segmenter is a search.
type segmenter struct {
	g     Graph
	nodes []*node
	// able says by operator which nodes can run it.
	able [][]bool
	// of is the run of each operator, missing how many of its inputs have no run yet.
	of, missing []int
	readers     [][]int
	runs        []*run
}

type run struct {
	operators []int
	able      []bool
	reads     map[int]bool // other runs
}

// prepare checks the graph and looks who can run what.
func (s *segmenter) prepare(nodes []Node) error {
	if len(nodes) == 0 {
		return errors.New("there are no nodes")
	}
	for i := range nodes {
		s.nodes = append(s.nodes, newNode(nodes[i]))
	}
	slices.SortFunc(s.nodes, func(a, b *node) int { return strings.Compare(string(a.ID), string(b.ID)) })
	var problems []error
	for i := range s.g.Operators {
		o := &s.g.Operators[i]
		s.of[i] = -1
		for _, in := range o.Inputs {
			if in < 0 || in >= len(s.g.Operators) {
				problems = append(problems, fmt.Errorf("operator %s reads operator %d of %d", o.Name, in, len(s.g.Operators)))
				continue
			}
			s.missing[i]++
			s.readers[in] = append(s.readers[in], i)
		}
		able := s.whoRuns(o)
		if !slices.Contains(able, true) {
			problems = append(problems, fmt.Errorf("no node can run operator %s: it needs %s", o.Name, needs(o)))
		}
		s.able = append(s.able, able)
	}
	if len(problems) == 0 {
		problems = append(problems, s.cycle())
	}
	return errors.Join(problems...)
}

func (s *segmenter) whoRuns(o *Operator) []bool {
	able := make([]bool, len(s.nodes))
	for k, n := range s.nodes {
		able[k] = n.has(o.Needs) && o.Required.in(n.Labels)
	}
	return able
}

func needs(o *Operator) string {
	var parts []string
	for _, c := range o.Needs {
		parts = append(parts, string(c))
	}
	for k, v := range o.Required {
		parts = append(parts, fmt.Sprintf("%s = %q", k, v))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// cycle returns an error that names the operators that wait for each other, nil if there are none.
func (s *segmenter) cycle() error {
	missing := slices.Clone(s.missing)
	var next []int
	for i, n := range missing {
		if n == 0 {
			next = append(next, i)
		}
	}
	for k := 0; k < len(next); k++ {
		for _, r := range s.readers[next[k]] {
			if missing[r]--; missing[r] == 0 {
				next = append(next, r)
			}
		}
	}
	if len(next) == len(missing) {
		return nil
	}
	var names []string
	for i, n := range missing {
		if n > 0 && len(names) < 10 {
			names = append(names, s.g.Operators[i].Name)
		}
	}
	return fmt.Errorf("the diagram has a cycle; among or after it are %s", strings.Join(names, ", "))
}

// visit gives an operator to a run, and goes on to those that have all their inputs then. The stack is kept by hand: a
// diagram may be a chain of any length.
func (s *segmenter) visit(first, from int) {
	type step struct{ operator, from int }
	for stack := []step{{first, from}}; len(stack) > 0; {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		s.assign(at.operator, at.from)
		readers := s.readers[at.operator]
		for k := len(readers) - 1; k >= 0; k-- {
			s.missing[readers[k]]--
		}
		ready := make(map[int]bool)
		for k := len(readers) - 1; k >= 0; k-- {
			if r := readers[k]; s.missing[r] == 0 && !ready[r] {
				ready[r] = true // reads the same operator twice
				stack = append(stack, step{r, s.of[at.operator]})
			}
		}
	}
}

// assign lets an operator join a run, or begin one.
func (s *segmenter) assign(operator, from int) {
	into := from
	if from < 0 || !s.fits(operator, s.runs[from]) || s.wouldCycle(operator, from) {
		into = len(s.runs)
		s.runs = append(s.runs, &run{able: s.able[operator], reads: make(map[int]bool)})
	}
	r := s.runs[into]
	r.operators = append(r.operators, operator)
	s.of[operator] = into
	for _, in := range s.g.Operators[operator].Inputs {
		if other := s.of[in]; other != into {
			r.reads[other] = true
		}
	}
}

// fits reports whether all nodes that are able to run a run can also run an operator.
func (s *segmenter) fits(operator int, r *run) bool {
	for k, able := range r.able {
		if able && !s.able[operator][k] {
			return false
		}
	}
	return true
}

// wouldCycle reports whether a run that takes an operator in would read, by way of others, from itself.
func (s *segmenter) wouldCycle(operator, into int) bool {
	seen := make(map[int]bool)
	var look []int
	for _, in := range s.g.Operators[operator].Inputs {
		if other := s.of[in]; other != into {
			look = append(look, other)
		}
	}
	for len(look) > 0 {
		at := look[len(look)-1]
		look = look[:len(look)-1]
		if at == into {
			return true
		}
		if seen[at] {
			continue
		}
		seen[at] = true
		for other := range s.runs[at].reads {
			look = append(look, other)
		}
	}
	return false
}
