package query

import (
	"slices"
	"sort"

	"fednode/query/tuple"
)

// wiring turns groups into fragment plans.
type wiring struct {
	plan    *Plan
	home    map[*Operator]*FragmentPlan
	index   map[*Operator]int // in its fragment's Operators; -1 - i for one that SUnion i replaces
	outputs map[Ref]string    // name of the stream of each port that an output of the diagram reads
}

// nameOutputs names the streams of ports that outputs read: the first output by name gives it.
func (w *wiring) nameOutputs() {
	d, org := w.plan.Diagram, w.plan.Placement.Home.Org
	for _, o := range d.Outputs {
		if o.Input.Operator != nil && w.outputs[o.Input] == "" {
			w.outputs[o.Input] = qualified(org, d.Settings.Name+"/"+o.Name)
		}
	}
}

// fragment wires one group; everything upstream of it is wired.
func (w *wiring) fragment(g *group) *FragmentPlan {
	f := &FragmentPlan{Name: g.name, Query: w.plan.Diagram.Settings.Name, Place: g.place, Replicas: 1,
		Bucket: w.plan.Diagram.Settings.Bucket, Declared: g.declared != nil}
	if g.declared != nil {
		f.Replicas = g.declared.Replicas
	}
	for _, o := range g.operators {
		w.home[o] = f
	}
	w.addInputs(f, g)
	w.addOperators(f, g)
	w.addOutputs(f, g)
	w.connect(f, g)
	f.markUnordered()
	f.reach()
	return f
}

// external reports whether a reference enters the fragment from outside.
func (w *wiring) external(f *FragmentPlan, r Ref) bool {
	return r.Stream != nil || w.home[r.Operator] != f
}

// addInputs lists the distinct streams that enter, in order of name.
func (w *wiring) addInputs(f *FragmentPlan, g *group) {
	seen := map[string]bool{}
	for _, o := range g.operators {
		for _, r := range o.Inputs {
			if !w.external(f, r) {
				continue
			}
			in := FragmentInput{Stream: w.streamName(r), Schema: r.Schema(), Source: r.Stream}
			if seen[in.Stream] {
				continue
			}
			seen[in.Stream] = true
			if r.Stream != nil {
				in.Place = r.Stream.placeAt(w.plan.Placement)
			} else {
				up := w.home[r.Operator]
				in.Fragment, in.Place = up.Name, up.Place
			}
			f.Inputs = append(f.Inputs, in)
		}
	}
	sort.Slice(f.Inputs, func(i, j int) bool { return f.Inputs[i].Stream < f.Inputs[j].Stream })
}

// streamName returns the name under which a reference crosses the edge of a fragment.
func (w *wiring) streamName(r Ref) string {
	d, org := w.plan.Diagram, w.plan.Placement.Home.Org
	if r.Stream != nil {
		return r.Stream.StreamName(org, d.Settings.Name)
	}
	if name := w.outputs[r]; name != "" {
		return name
	}
	return qualified(org, d.Settings.Name+"."+w.home[r.Operator].Name+"."+r.Name())
}

// inputIndex finds a reference among the fragment's inputs.
func (w *wiring) inputIndex(f *FragmentPlan, r Ref) int {
	name := w.streamName(r)
	return slices.IndexFunc(f.Inputs, func(in FragmentInput) bool { return in.Stream == name })
}

// addOperators lists the operators, and the SUnions that replace unions.
func (w *wiring) addOperators(f *FragmentPlan, g *group) {
	for _, o := range g.operators {
		if w.mergesInputs(f, o) {
			u := UnionPlan{Operator: o.Name, Schema: o.Plan.Ports[0].Schema}
			for _, r := range o.Inputs {
				u.Inputs = append(u.Inputs, w.inputIndex(f, r))
			}
			w.index[o] = -1 - len(f.Unions)
			f.Unions = append(f.Unions, u)
			continue
		}
		p := OperatorPlan{Name: o.Name, Plan: o.Plan, Fingerprint: o.fingerprint(), to: make([][]target, len(o.Plan.Ports))}
		for _, r := range o.Inputs {
			p.Inputs = append(p.Inputs, r.Name())
		}
		w.index[o] = len(f.Operators)
		f.Operators = append(f.Operators, p)
	}
}

// mergesInputs reports whether an operator does what an SUnion over its inputs does: a plain union of distinct streams
// that all enter here.
func (w *wiring) mergesInputs(f *FragmentPlan, o *Operator) bool {
	if o.Plan.Kind != "union" || o.table.Has("origin") {
		return false
	}
	seen := map[Ref]bool{}
	for _, r := range o.Inputs {
		if seen[r] || !w.external(f, r) || !r.Schema().Equal(o.Plan.Ports[0].Schema) {
			return false
		}
		seen[r] = true
	}
	return true
}

// addOutputs lists the streams that leave: ports that an output of the diagram or another fragment reads.
func (w *wiring) addOutputs(f *FragmentPlan, g *group) {
	leaves := map[Ref]bool{}
	for r := range w.outputs {
		leaves[r] = true
	}
	for _, o := range w.plan.Diagram.Operators {
		for _, r := range o.Inputs {
			if o.Used && r.Operator != nil && !slices.Contains(g.operators, o) {
				leaves[r] = true
			}
		}
	}
	for _, o := range g.operators {
		for port, p := range o.Plan.Ports {
			if r := (Ref{Operator: o, Port: port}); leaves[r] {
				f.Outputs = append(f.Outputs, FragmentOutput{Stream: w.streamName(r), Schema: p.Schema, Edge: r.Name()})
			}
		}
	}
	sort.Slice(f.Outputs, func(i, j int) bool { return f.Outputs[i].Stream < f.Outputs[j].Stream })
}

// connect adds the targets: of what enters and of each port, the operators that read it in topological order, then the
// output that carries it.
func (w *wiring) connect(f *FragmentPlan, g *group) {
	sources := map[int]int{} // input -> its SUnion
	for _, o := range g.operators {
		at := w.index[o]
		if at < 0 {
			continue
		}
		for port, r := range o.Inputs {
			t := target{operator: at, port: port}
			if !w.external(f, r) {
				w.addTarget(f, r, t)
				continue
			}
			in := w.inputIndex(f, r)
			u, ok := sources[in]
			if !ok {
				u = len(f.Unions)
				sources[in] = u
				f.Unions = append(f.Unions, UnionPlan{Inputs: []int{in}, Schema: f.Inputs[in].Schema})
			}
			f.Unions[u].to = append(f.Unions[u].to, t)
		}
	}
	for _, o := range g.operators {
		for port := range o.Plan.Ports {
			r := Ref{Operator: o, Port: port}
			name := w.streamName(r)
			i := slices.IndexFunc(f.Outputs, func(out FragmentOutput) bool { return out.Stream == name && out.Edge == r.Name() })
			if i >= 0 {
				w.addTarget(f, r, target{operator: -1, port: i})
			}
		}
	}
}

// addTarget adds a reader to a port of an operator, or to the SUnion that replaces it.
func (w *wiring) addTarget(f *FragmentPlan, r Ref, t target) {
	if at := w.index[r.Operator]; at >= 0 {
		f.Operators[at].to[r.Port] = append(f.Operators[at].to[r.Port], t)
	} else {
		u := &f.Unions[-1-at]
		u.to = append(u.to, t)
	}
}

// wireOutputs says which stream each output reads.
func (w *wiring) wireOutputs() {
	d, at := w.plan.Diagram, w.plan.Placement
	for _, o := range d.Outputs {
		stream := w.outputs[o.Input]
		if o.Input.Stream != nil {
			stream = o.Input.Stream.StreamName(at.Home.Org, d.Settings.Name)
		}
		w.plan.Outputs = append(w.plan.Outputs, OutputPlan{Output: o, Stream: stream, Place: o.Place.at(at.Home)})
	}
}

// markUnordered finds the SUnions behind which order does not matter before it is restored.
func (f *FragmentPlan) markUnordered() {
	free := make([]bool, len(f.Operators))
	all := func(to []target) bool {
		for _, t := range to {
			if t.operator < 0 || !free[t.operator] {
				return false
			}
		}
		return true
	}
	for i := len(f.Operators) - 1; i >= 0; i-- {
		o := &f.Operators[i]
		free[i] = o.Plan.OrderInsensitive
		for _, to := range o.to {
			free[i] = free[i] && (o.Plan.RestoresOrder || all(to))
		}
	}
	for i := range f.Unions {
		f.Unions[i].Unordered = all(f.Unions[i].to)
	}
}

// reach finds which outputs depend on which SUnions.
func (f *FragmentPlan) reach() {
	for u := range f.Unions {
		seen := make([]bool, len(f.Operators))
		leads := make([]bool, len(f.Outputs))
		var walk func([]target)
		walk = func(to []target) {
			for _, t := range to {
				if t.operator < 0 {
					leads[t.port] = true
				} else if !seen[t.operator] {
					seen[t.operator] = true
					for _, next := range f.Operators[t.operator].to {
						walk(next)
					}
				}
			}
		}
		walk(f.Unions[u].to)
		for i, yes := range leads {
			if yes {
				f.Unions[u].Outputs = append(f.Unions[u].Outputs, i)
				f.Outputs[i].Unions = append(f.Outputs[i].Unions, u)
			}
		}
	}
}

// measureDepth counts the SUnions on the paths through each.
func (p *Plan) measureDepth() {
	depth, tail := map[string]int{}, map[string]int{} // by stream: SUnions up to its producer, and from its consumers on
	for _, f := range p.Fragments {
		for i := range f.Unions {
			u := &f.Unions[i]
			for _, in := range u.Inputs {
				u.Depth = max(u.Depth, depth[f.Inputs[in].Stream]+1)
			}
			for _, out := range u.Outputs {
				depth[f.Outputs[out].Stream] = max(depth[f.Outputs[out].Stream], u.Depth)
			}
		}
	}
	for i := len(p.Fragments) - 1; i >= 0; i-- {
		f := p.Fragments[i]
		for j := range f.Unions {
			u := &f.Unions[j]
			below := 0
			for _, out := range u.Outputs {
				below = max(below, tail[f.Outputs[out].Stream])
			}
			u.Path = u.Depth + below
			p.Depth = max(p.Depth, u.Path)
			for _, in := range u.Inputs {
				tail[f.Inputs[in].Stream] = max(tail[f.Inputs[in].Stream], below+1)
			}
		}
	}
}

// sortedDistinct sorts a list of names and drops repeats.
func sortedDistinct(names []string) []string {
	sort.Strings(names)
	return slices.Compact(names)
}

// schemaHash folds a schema into a fingerprint.
func schemaHash(h uint64, s *tuple.Schema) uint64 { return tuple.Mix64(h ^ s.Fingerprint()) }
