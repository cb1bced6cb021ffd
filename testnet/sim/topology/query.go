package topology

import (
	"fmt"
	"slices"
	"strings"

	"fednode/query/tuple"
)

// queryText writes the query of a spec.
func queryText(s *Spec) string {
	w := &queryWriter{spec: s}
	w.line("[query]")
	w.line("name = %q", QueryName)
	w.line("bucket = %q", tuple.AppendDuration(nil, s.Bucket))
	w.line("failure = %q", s.Failure)
	w.line("stabilization = %q", s.Stabilization)
	if s.Consistency != Eventual {
		w.line("consistency = %q", s.Consistency)
	} else {
		w.line("redo = %q", s.Redo)
	}
	if s.Consistency != StableOnly {
		w.line("max_delay = %q", tuple.AppendDuration(nil, s.MaxDelay))
	}
	for i := range s.Sources {
		w.line("[streams.%s]", SourceName(i))
		w.line("connector = \"node\"\nstream = %q", "world/"+SourceName(i))
		w.line("time = \"ts\"\ncolumns = { ts = \"timestamp\", k = \"string\", v = \"int64\" }")
	}
	switch s.Shape {
	case Diamond:
		w.diamond()
	case Join:
		w.join()
	case Lanes:
		w.lanes()
	default:
		w.chain(1, w.sources(0, s.Sources))
	}
	return w.text.String()
}

// QueryName is the name of the one query; SourceName and FragmentName name its parts, from 0.
const QueryName = "q"

// SourceName returns the name of a source and its node.
func SourceName(i int) string { return fmt.Sprintf("s%d", i) }

// FragmentName returns the name of a fragment, counted from 1.
func FragmentName(i int) string { return fmt.Sprintf("f%d", i) }

// queryWriter writes a query fragment by fragment.
type queryWriter struct {
	spec *Spec
	text strings.Builder
}

func (w *queryWriter) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

func (w *queryWriter) sources(lo, hi int) []string {
	var names []string
	for i := lo; i < hi; i++ {
		names = append(names, SourceName(i))
	}
	return names
}

// chain writes the fragments from number n on, the first of which reads inputs.
func (w *queryWriter) chain(n int, inputs []string) {
	for ; n <= w.spec.Fragments; n++ {
		inputs = []string{w.stage(n, inputs)}
	}
	w.line("[outputs.out]\ninput = %q\nconnector = \"node\"", inputs[0])
}

// stage writes one fragment of a chain and returns the operator that its results come from.
func (w *queryWriter) stage(n int, inputs []string) string {
	var ops []string
	in := inputs[0]
	if len(inputs) > 1 {
		in = fmt.Sprintf("u%d", n)
		w.line("[operators.%s]\nkind = \"union\"\ninputs = [%s]", in, quoted(inputs))
		ops = append(ops, in)
	}
	name := fmt.Sprintf("w%d", n)
	w.line("[operators.%s]\ninput = %q", name, in)
	switch {
	case w.spec.Work == Windows && n == (w.spec.Fragments+1)/2:
		w.line("kind = \"aggregate\"\nwindow = { tumbling = %q }\ngroup_by = [\"k\"]\naggregates = { v = \"sum(v)\", n = \"count()\", first = \"first(v)\" }", tuple.AppendDuration(nil, w.spec.Window))
	case n%2 == 1:
		w.line("kind = \"map\"\ncolumns = { k = \"k\", v = \"v\" }")
	default:
		w.line("kind = \"filter\"\nwhere = \"v >= 0\"")
	}
	w.fragment(n, append(ops, name))
	return name
}

// diamond writes one fragment that feeds two, which a fourth unites again.
func (w *queryWriter) diamond() {
	top := w.stage(1, w.sources(0, w.spec.Sources))
	for n := 2; n <= 3; n++ {
		w.line("[operators.w%d]\nkind = \"filter\"\ninput = %q\nwhere = \"v %% 2 = %d\"", n, top, n-2)
		w.fragment(n, []string{fmt.Sprintf("w%d", n)})
	}
	w.chain(4, []string{"w2", "w3"})
}

// join writes two fragments that a third joins by key within a second.
func (w *queryWriter) join() {
	half := w.spec.Sources / 2
	left := w.stage(1, w.sources(0, half))
	right := w.stage(2, w.sources(half, w.spec.Sources))
	w.line("[operators.w3]\nkind = \"join\"\nleft = %q\nright = %q\non = [\"k\"]\nwithin = \"1s\"", left, right)
	w.line("columns = { v = \"left.v\", r = \"right.v\" }")
	w.fragment(3, []string{"w3"})
	if w.spec.Fragments == 3 {
		w.line("[outputs.out]\ninput = \"w3\"\nconnector = \"node\"")
		return
	}
	w.chain(4, []string{"w3"})
}

// lanes writes a fragment with two outputs, which the next one unites.
func (w *queryWriter) lanes() {
	half := w.spec.Sources / 2
	ops, ends := w.lane("a", w.sources(0, half))
	more, end := w.lane("b", w.sources(half, w.spec.Sources))
	w.fragment(1, append(ops, more...))
	w.chain(2, []string{ends, end})
}

// lane writes what one lane consists of, and returns its operators and the one that its results come from.
func (w *queryWriter) lane(name string, inputs []string) (ops []string, end string) {
	in := inputs[0]
	if len(inputs) > 1 {
		in = "u1" + name
		w.line("[operators.%s]\nkind = \"union\"\ninputs = [%s]", in, quoted(inputs))
		ops = append(ops, in)
	}
	end = "w1" + name
	w.line("[operators.%s]\ninput = %q\nkind = \"map\"\ncolumns = { k = \"k\", v = \"v\" }", end, in)
	return append(ops, end), end
}

func (w *queryWriter) fragment(n int, ops []string) {
	w.line("[fragments.%s]\noperators = [%s]\nreplicas = %d", FragmentName(n), quoted(ops), w.spec.Replicas)
}

func quoted(names []string) string {
	q := slices.Clone(names)
	for i := range q {
		q[i] = fmt.Sprintf("%q", q[i])
	}
	return strings.Join(q, ", ")
}
