package query

import (
	"fednode/query/spec"
)

// maxReplicas bounds the replicas of a fragment.
const maxReplicas = 16

// readOutput reads one [outputs.NAME].
func (b *builder) readOutput(e *spec.Entry) {
	t := e.Value.Table
	o := &Output{Name: e.Key, Pos: e.Pos, Keys: t}
	r := spec.Read(t, b.p)
	input := r.Value("input", true, spec.String)
	o.Connector, _ = r.NeedString("connector")
	o.Place = readPlace(r, "place")
	if input != nil {
		if ref, schema := b.resolve(input, t.Path); schema != nil {
			o.Input = ref
		}
	}
	b.readSink(o, r)
	if o.Input != (Ref{}) {
		b.d.Outputs = append(b.d.Outputs, o)
	}
}

// readSink checks the connector's name and lets it read its own keys. An output without a sink of ours has the connector
// "node": it is a stream that others subscribe to.
func (b *builder) readSink(o *Output, r *spec.Reader) {
	switch {
	case o.Connector == "":
		r.Misspelt("connector")
		return
	case o.Connector != foreignConnector && b.o.Connectors == nil:
		return
	case o.Connector == foreignConnector:
	default:
		names := b.o.Connectors.SinkNames()
		if !containsName(names, o.Connector) {
			r.Errorf("connector", spec.DidYouMean(o.Connector, append(names, foreignConnector)), "there is no connector `%s` for outputs", o.Connector)
			return
		}
		b.o.Connectors.Sink(o, r)
	}
	r.Done()
}

// readFragment reads one [fragments.NAME].
func (b *builder) readFragment(e *spec.Entry) {
	t := e.Value.Table
	f := &Fragment{Name: e.Key, Pos: e.Pos}
	r := spec.Read(t, b.p)
	for _, v := range r.Strings("operators", true) {
		b.addToFragment(f, v, r)
	}
	f.Replicas = int(r.Int("replicas", 1, 1, maxReplicas))
	f.Place = readPlace(r, "place")
	if n := r.Int("partitions", 1, 1, 1024); n > 1 {
		r.Errorf("partitions", "leave it out", "this version runs a fragment in one partition")
	}
	r.Done()
	if t.Has("operators") && len(f.Operators) == 0 && b.p.OK() {
		r.Errorf("operators", "", "the fragment has no operators")
	}
	b.d.Fragments = append(b.d.Fragments, f)
}

// addToFragment puts the operator that v names into a fragment, unless it is in one already.
func (b *builder) addToFragment(f *Fragment, v *spec.Value, r *spec.Reader) {
	d := b.operators[v.Str]
	if d == nil {
		var names []string
		for _, n := range b.names() {
			if b.operators[n] != nil {
				names = append(names, n)
			}
		}
		r.P.Add(v.Pos, r.T.KeyPath("operators"), spec.DidYouMean(v.Str, names), "there is no operator `%s`", v.Str)
		return
	}
	if d.built == nil {
		return // recorded
	}
	for _, g := range append(b.d.Fragments, f) {
		for _, o := range g.Operators {
			if o == d.built {
				r.P.Add(v.Pos, r.T.KeyPath("operators"), "", "`%s` is in fragment `%s` already", v.Str, g.Name)
				return
			}
		}
	}
	f.Operators = append(f.Operators, d.built)
}
