package query

import (
	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Placement says where a query is planned.
type Placement struct {
	// Home is the organisation and node that the query is given to: outputs without a place are there.
	Home Place
	// Local plans everything into this process: declared fragments and places are ignored.
	Local bool
}

// Plan is a diagram cut into fragments.
type Plan struct {
	Diagram   *Diagram
	Placement Placement
	// Fragments are in topological order, ties by name.
	Fragments []*FragmentPlan
	// Outputs say which stream each output of the diagram reads, in order of name.
	Outputs []OutputPlan
	// Depth is J, the number of SUnions on the longest path; 0 if the diagram has no operator.
	Depth int
}

// OutputPlan is an output with the stream that its sink subscribes to.
type OutputPlan struct {
	Output *Output
	Stream string
	Place  Place
}

// FragmentPlan is what one node hosts, replicates and moves.
type FragmentPlan struct {
	Name     string
	Query    string
	Place    Place
	Replicas int
	// Declared is true for a fragment of the file, false for one that the default cut made.
	Declared bool
	// Bucket is the size of every SUnion's buckets in microseconds.
	Bucket int64
	// Inputs are the distinct streams the fragment subscribes to, in order of name.
	Inputs []FragmentInput
	// Unions are the SUnions that order them. A stream may feed several.
	Unions []UnionPlan
	// Operators are in topological order.
	Operators []OperatorPlan
	// Outputs are the streams the fragment produces, one SOutput each, in order of name.
	Outputs []FragmentOutput
}

// FragmentInput is one stream that enters a fragment.
type FragmentInput struct {
	// Stream is its name in the federation: "org/stream", "org/query.stream", "org/query/output" or, for an edge between
	// fragments, "org/query.fragment.edge".
	Stream string
	Schema *tuple.Schema
	// Source is the stream of the diagram, nil for an edge between fragments; Fragment then names the producer.
	Source   *Stream
	Fragment string
	// Place is where the stream comes from.
	Place Place
}

// UnionPlan is one SUnion: it merges its inputs in the order of the list, (stime, index, id), and hands the result to
// its targets. Instance addresses it by its index in FragmentPlan.Unions.
//
// There is one SUnion for each stream that enters, so that a failure of one stream touches only what depends on it. A
// union operator all of whose inputs enter here is replaced by one SUnion over them, which merges in the same order;
// Operator then names it.
type UnionPlan struct {
	Operator string
	// Inputs index FragmentPlan.Inputs.
	Inputs []int
	Schema *tuple.Schema
	// Unordered: everything up to an operator that restores order is order-insensitive, so the SUnion may hand on a
	// bucket's rows unmerged.
	Unordered bool
	// Depth is j: this SUnion is the j-th on the longest path from a source. Path is J, the number of SUnions on the
	// longest path through it.
	Depth int
	Path  int
	// Outputs index the outputs of the fragment that depend on it.
	Outputs []int

	to []target
}

// OperatorPlan is one operator of a fragment.
type OperatorPlan struct {
	Name   string
	Plan   *op.Plan
	Inputs []string // names of what it reads, one a port
	// Fingerprint identifies what the state means: the declaration without its inputs' names, and their schemas.
	Fingerprint uint64

	to [][]target // per port
}

// target is where a batch goes next: port of an operator, or, where operator is -1, output port of the fragment.
type target struct {
	operator int
	port     int
}

// FragmentOutput is one stream that a fragment produces.
type FragmentOutput struct {
	Stream string
	Schema *tuple.Schema
	// Edge is the operator or operator.port whose results it carries.
	Edge string
	// Unions index the SUnions that it depends on.
	Unions []int
}

// Kinds returns the kinds of the fragment's operators, sorted and distinct: what a host is asked to run.
func (f *FragmentPlan) Kinds() []string {
	var kinds []string
	for _, o := range f.Operators {
		kinds = append(kinds, o.Plan.Kind)
	}
	for _, u := range f.Unions {
		if u.Operator != "" {
			kinds = append(kinds, "union")
		}
	}
	return sortedDistinct(kinds)
}

// Fragment returns the fragment of a name, nil if there is none.
func (p *Plan) Fragment(name string) *FragmentPlan {
	for _, f := range p.Fragments {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// NewPlan cuts a diagram into fragments: where the file says so, where places differ, and by default so that operators
// run where their input enters, up to the first that has inputs from two places; that one and all after it run at the
// output's place, and so does what follows a fragment that the file places. It returns nil, and records why in p, if the
// declared fragments would read each other in a cycle; a diagram that Parse accepted has none.
func NewPlan(d *Diagram, at Placement, p *spec.Problems) *Plan {
	groups := cut(d, at, p)
	if groups == nil {
		return nil
	}
	w := &wiring{plan: &Plan{Diagram: d, Placement: at}, home: map[*Operator]*FragmentPlan{}, index: map[*Operator]int{},
		outputs: map[Ref]string{}}
	w.nameOutputs()
	for _, g := range groups {
		w.plan.Fragments = append(w.plan.Fragments, w.fragment(g))
	}
	w.wireOutputs()
	w.plan.measureDepth()
	return w.plan
}

// checkDelay warns of an availability bound that an ordinary switch to another replica would already break.
func checkDelay(plan *Plan, p *spec.Problems) {
	s := plan.Diagram.Settings
	if s.MaxDelay == Unbounded || plan.Placement.Local {
		return
	}
	if floor := s.Bucket + DefaultBoundaryInterval; s.MaxDelay <= floor {
		p.Add(s.maxDelayPos, "query.max_delay", "the smallest sensible value for this query is "+durationText(plan.MinDelay()),
			"%s is not more than a bucket and a boundary interval, %s, which pass without any failure", durationText(s.MaxDelay), durationText(floor))
	} else if s.MaxDelay < plan.MinDelay() {
		p.Warn(s.maxDelayPos, "query.max_delay", "the smallest sensible value for this query is "+durationText(plan.MinDelay()),
			"%s is less than finding a failure and taking another replica costs: results will often be tentative", durationText(s.MaxDelay))
	}
}

// lagText prints the lag that a stream declares, "" if it is measured.
func lagText(lag int64) string {
	if lag == Measured {
		return ""
	}
	return durationText(lag)
}

// durationText prints microseconds, "inf" for Unbounded.
func durationText(us int64) string {
	if us == Unbounded {
		return "inf"
	}
	return string(tuple.AppendDuration(nil, us))
}
