package query

import (
	"sort"
	"strings"

	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// declared is an operator as it was written, before it is built.
type declared struct {
	name   string
	pos    spec.Pos
	r      *spec.Reader
	kind   op.Kind
	known  bool // the kind exists
	inputs []*spec.Value
	built  *Operator // nil until built, or when the declaration has an error
	// assumed is the schema of its results although the declaration has an error, so that what reads them is checked too;
	// nil if nobody can tell.
	assumed *tuple.Schema
	visited bool
}

// readOperators reads [operators.*], orders them and builds them upstream first.
func (b *builder) readOperators(entries []*spec.Entry) {
	var all []*declared
	for _, e := range entries {
		d := &declared{name: e.Key, pos: e.Pos, r: spec.Read(e.Value.Table, b.p)}
		b.operators[d.name] = d
		all = append(all, d)
		if s := b.streams[d.name]; s != nil {
			b.p.Add(d.pos, "operators."+d.name, "", "`%s` is also a stream, at %s; give one of them another name", d.name, s.Pos)
		}
		b.readKind(d)
	}
	for _, d := range b.order(all) {
		b.build(d)
	}
}

// readKind reads the keys that say what an operator is and what it reads.
func (b *builder) readKind(d *declared) {
	name, ok := d.r.NeedString("kind")
	if !ok {
		d.r.Misspelt("kind")
		return
	}
	var names []string
	for _, k := range b.o.Kinds {
		names = append(names, k.Name)
		if k.Name == name {
			d.kind, d.known = k, true
		}
	}
	if !d.known {
		d.r.Errorf("kind", spec.DidYouMean(name, names), "there is no operator kind `%s`", name)
		return
	}
	for _, key := range inputKeys(d.kind) {
		d.inputs = append(d.inputs, d.readInputs(key)...)
	}
}

// inputKeys returns the keys under which a kind names its inputs.
func inputKeys(k op.Kind) []string {
	switch {
	case k.TwoSided:
		return []string{"left", "right"}
	case k.TableKey != "":
		return []string{"input", k.TableKey}
	case k.MaxInputs == 1:
		return []string{"input"}
	}
	return []string{"inputs"}
}

// readInputs reads one key that names inputs.
func (d *declared) readInputs(key string) []*spec.Value {
	if key != "inputs" {
		v := d.r.Value(key, true, spec.String)
		if v == nil {
			return nil
		}
		return []*spec.Value{v}
	}
	list := d.r.Strings(key, true)
	n := len(list)
	switch {
	case d.r.T.Has(key) && n < d.kind.MinInputs:
		d.r.Errorf(key, "", "%d inputs; `%s` needs at least %d", n, d.kind.Name, d.kind.MinInputs)
	case d.kind.MaxInputs >= 0 && n > d.kind.MaxInputs:
		d.r.Errorf(key, "", "%d inputs; `%s` has at most %d", n, d.kind.Name, d.kind.MaxInputs)
	}
	return list
}

// order returns the operators upstream first, ties by name. Those that are on a cycle, which it reports, or behind one
// are left out.
func (b *builder) order(all []*declared) (order []*declared) {
	waits := map[*declared]int{}
	readers := map[*declared][]*declared{}
	for _, d := range all {
		for _, up := range b.upstream(d) {
			waits[d]++
			readers[up] = append(readers[up], d)
		}
	}
	ready := []*declared{}
	for _, d := range all {
		if waits[d] == 0 {
			ready = append(ready, d)
		}
	}
	for len(ready) > 0 {
		sort.Slice(ready, func(i, j int) bool { return ready[i].name < ready[j].name })
		d := ready[0]
		ready = ready[1:]
		order = append(order, d)
		for _, r := range readers[d] {
			if waits[r]--; waits[r] == 0 {
				ready = append(ready, r)
			}
		}
	}
	var cyclic []*declared
	for _, d := range all {
		if waits[d] > 0 {
			cyclic = append(cyclic, d)
		}
	}
	b.reportCycles(cyclic)
	return order
}

// upstream returns the operators that an operator reads, one entry an input.
func (b *builder) upstream(d *declared) []*declared {
	var out []*declared
	for _, v := range d.inputs {
		name, _, _ := strings.Cut(v.Str, ".")
		if up := b.operators[name]; up != nil && b.streams[name] == nil {
			out = append(out, up)
		}
	}
	return out
}

// reportCycles names each cycle once, by its path. Every operator of the list reads another of the list, so walking
// upstream from any of them meets one.
func (b *builder) reportCycles(cyclic []*declared) {
	on := map[*declared]bool{}
	for _, d := range cyclic {
		on[d] = true
	}
	for _, d := range cyclic {
		var path []*declared
		for at := d; at != nil && !at.visited; {
			at.visited = true
			path = append(path, at)
			at = nextOn(b.upstream(at), on)
			if i := indexOf(path, at); i >= 0 {
				b.reportCycle(path[i:])
			}
		}
	}
}

// reportCycle prints a cycle that was walked upstream in the direction of the data.
func (b *builder) reportCycle(path []*declared) {
	last := path[0]
	names := []string{last.name}
	for i := len(path) - 1; i >= 0; i-- {
		names = append(names, path[i].name)
	}
	if len(names) > 12 {
		names = append(append(names[:6:6], "…"), names[len(names)-5:]...)
	}
	b.p.Add(last.inputs[0].Pos, "operators."+last.name, "a diagram is acyclic: break it", "the operators read each other in a cycle: %s",
		strings.Join(names, " → "))
}

func nextOn(list []*declared, on map[*declared]bool) *declared {
	for _, d := range list {
		if on[d] {
			return d
		}
	}
	return nil
}

func indexOf(list []*declared, d *declared) int {
	for i, x := range list {
		if x == d {
			return i
		}
	}
	return -1
}

// build resolves an operator's inputs and lets its kind check the declaration.
func (b *builder) build(d *declared) {
	if !d.known {
		return
	}
	refs, in, ok := b.resolveInputs(d)
	if !ok {
		d.findUnknownKeys(in)
		return
	}
	before := len(b.p.Errors)
	plan := d.kind.Build(d.r, in)
	d.r.Done()
	if plan == nil || len(b.p.Errors) > before {
		if plan == nil && len(b.p.Errors) == before {
			b.p.Add(d.pos, "operators."+d.name, "", "the operator cannot be built")
		}
		d.assumed = schemaDespite(d.kind.Name, plan, in)
		return
	}
	for _, r := range refs {
		if r == (Ref{}) {
			return // an input has an error; what was checked here used its likely schema
		}
	}
	d.built = &Operator{Name: d.name, Pos: d.pos, Inputs: refs, Plan: plan, table: d.r.T}
	b.d.Operators = append(b.d.Operators, d.built)
}

// findUnknownKeys reports the keys that the kind does not know although an input is missing: what the kind says about
// columns that nobody knows is dropped.
func (d *declared) findUnknownKeys(in []op.Input) {
	for len(in) < d.kind.MinInputs {
		in = append(in, op.Input{})
	}
	for i := range in {
		if in[i].Schema == nil {
			in[i].Schema = tuple.MustSchema()
		}
	}
	said := d.r.P
	d.r.P = &spec.Problems{}
	d.kind.Build(d.r, in)
	d.r.P = said
	d.r.Done()
}

// schemaDespite returns the schema that an operator's results would have if its declaration were right, where that does
// not depend on what is wrong.
func schemaDespite(kind string, plan *op.Plan, in []op.Input) *tuple.Schema {
	if plan != nil && len(plan.Ports) == 1 {
		return plan.Ports[0].Schema
	}
	switch kind {
	case "filter", "sort", "limit", "sample", "dedup", "top":
		return in[0].Schema
	}
	return nil
}

// resolveInputs finds what each input names. ok is false if the schema of one is not known, the reason having been
// recorded.
func (b *builder) resolveInputs(d *declared) (refs []Ref, in []op.Input, ok bool) {
	ok = len(d.inputs) >= max(d.kind.MinInputs, 1)
	for _, v := range d.inputs {
		ref, schema := b.resolve(v, "operators."+d.name)
		if schema == nil {
			ok = false
		}
		input := op.Input{Name: v.Str, Schema: schema}
		if ref.Operator != nil {
			input.Table = ref.Operator.Plan.Table
		}
		refs = append(refs, ref)
		in = append(in, input)
	}
	return refs, in, ok
}

// resolve finds what a name refers to, and its schema; a nil schema means that the problem is recorded already. A zero
// Ref with a schema is an operator that has an error, but whose results are known all the same.
func (b *builder) resolve(v *spec.Value, path string) (Ref, *tuple.Schema) {
	if s := b.streams[v.Str]; s != nil {
		return Ref{Stream: s}, s.Schema
	}
	name, port, dotted := strings.Cut(v.Str, ".")
	d := b.operators[name]
	if d == nil {
		b.p.Add(v.Pos, path, spec.DidYouMean(v.Str, b.names()), "there is no stream or operator `%s`", v.Str)
		return Ref{}, nil
	}
	if d.built == nil {
		if dotted {
			return Ref{}, nil
		}
		return Ref{}, d.assumed
	}
	ports := d.built.Plan.Ports
	for i, p := range ports {
		if p.Name == port {
			return Ref{Operator: d.built, Port: i}, p.Schema
		}
	}
	var names []string
	for _, p := range ports {
		if p.Name != "" {
			names = append(names, name+"."+p.Name)
		}
	}
	if len(names) == 0 {
		b.p.Add(v.Pos, path, "write `"+name+"`", "`%s` has one output, without a name", name)
	} else {
		b.p.Add(v.Pos, path, spec.DidYouMean(v.Str, names), "`%s` names no output of the %s `%s`", v.Str, d.kind.Name, name)
	}
	return Ref{}, nil
}

// names returns everything that can be read, in order.
func (b *builder) names() []string {
	var names []string
	for n := range b.streams {
		names = append(names, n)
	}
	for n := range b.operators {
		if b.streams[n] == nil {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}
