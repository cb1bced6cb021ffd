package topology

import (
	"fmt"
	"slices"
	"strings"

	"fednode/query/tuple"
)

// queryTexts writes the queries of a spec, in the order in which they read from each other.
func queryTexts(s *Spec) []string {
	if s.Shape == Queries {
		half := s.Fragments / 2
		first := newQuery(s, firstQuery, 0, s.Sources/2)
		first.time = keepTime
		first.chain(1, half, first.inputs)
		next := newQuery(s, QueryName, s.Sources/2, s.Sources)
		next.chain(half+1, s.Fragments, append([]string{next.stream(firstQuery, Org+"/"+firstQuery+"/out")}, next.inputs...))
		return []string{first.text.String(), next.text.String()}
	}
	w := newQuery(s, QueryName, 0, s.Sources)
	switch s.Shape {
	case Diamond:
		w.diamond()
	case Join:
		w.join()
	case Lanes:
		w.lanes()
	case Uneven:
		w.uneven()
	default:
		w.chain(1, s.Fragments, w.inputs)
	}
	return []string{w.text.String()}
}

// uneven writes a chain that half of the sources enter in its middle.
func (w *queryWriter) uneven() {
	fragments, sources := w.spec.Fragments/2, w.spec.Sources/2
	w.time = keepTime
	half := w.stages(1, fragments, w.inputs[:sources])
	w.time = ""
	w.chain(fragments+1, w.spec.Fragments, append([]string{half}, w.inputs[sources:]...))
}

// keepTime keeps the column of stime in a map.
const keepTime = "ts = \"ts\", "

// newQuery begins a query that reads the sources from number lo up to hi.
func newQuery(s *Spec, name string, lo, hi int) *queryWriter {
	w := &queryWriter{spec: s}
	w.line("[query]")
	w.line("name = %q", name)
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
	for i := lo; i < hi; i++ {
		w.inputs = append(w.inputs, w.stream(SourceName(i), Org+"/"+SourceName(i)))
	}
	return w
}

// stream declares a stream that comes from elsewhere, and returns its name here.
func (w *queryWriter) stream(name, from string) string {
	w.line("[streams.%s]", name)
	w.line("connector = \"node\"\nstream = %q", from)
	w.line("time = \"ts\"\ncolumns = { ts = \"timestamp\", k = \"string\", v = \"int64\" }")
	return name
}

// Org owns everything. QueryName is the name of the query that the client reads, firstQuery that of one before it; SourceName and
// FragmentName name the parts, from 0.
const (
	Org        = "world"
	QueryName  = "q"
	firstQuery = "p"
)

// SourceName returns the name of a source and its node.
func SourceName(i int) string { return fmt.Sprintf("s%d", i) }

// FragmentName returns the name of a fragment, counted from 1.
func FragmentName(i int) string { return fmt.Sprintf("f%d", i) }

// queryWriter writes a query fragment by fragment.
type queryWriter struct {
	spec *Spec
	text strings.Builder
	// inputs are the names of its sources.
	inputs []string
	// time is the column of stime that maps keep, where results have to look like rows of a source; empty if they drop it.
	time string
}

func (w *queryWriter) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// chain writes the fragments from number n up to last, the first of which reads inputs.
func (w *queryWriter) chain(n, last int, inputs []string) {
	w.line("[outputs.out]\ninput = %q\nconnector = \"node\"", w.stages(n, last, inputs))
}

// stages writes fragments as a chain, and returns the operator that the results of the last come from.
func (w *queryWriter) stages(n, last int, inputs []string) string {
	for ; n <= last; n++ {
		inputs = []string{w.stage(n, inputs)}
	}
	return inputs[0]
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
	case w.spec.Work == Windows && n == w.windows():
		w.line("kind = \"aggregate\"\nwindow = { tumbling = %q }\ngroup_by = [\"k\"]\naggregates = { v = \"sum(v)\", n = \"count()\", first = \"first(v)\" }", tuple.AppendDuration(nil, w.spec.Window))
	case n%2 == 1:
		w.line("kind = \"map\"\ncolumns = { %sk = \"k\", v = \"v\" }", w.time)
	default:
		w.line("kind = \"filter\"\nwhere = \"v >= 0\"")
	}
	w.fragment(n, append(ops, name))
	return name
}

// windows is the number of the fragment that has the aggregate: the middle one, or the first into which all sources have come.
func (w *queryWriter) windows() int {
	if w.spec.Shape.halved() {
		return w.spec.Fragments/2 + 1
	}
	return (w.spec.Fragments + 1) / 2
}

// diamond writes one fragment that feeds two, which a fourth unites again.
func (w *queryWriter) diamond() {
	top := w.stage(1, w.inputs)
	for n := 2; n <= 3; n++ {
		w.line("[operators.w%d]\nkind = \"filter\"\ninput = %q\nwhere = \"v %% 2 = %d\"", n, top, n-2)
		w.fragment(n, []string{fmt.Sprintf("w%d", n)})
	}
	w.chain(4, w.spec.Fragments, []string{"w2", "w3"})
}

// join writes two fragments that a third joins by key within a second.
func (w *queryWriter) join() {
	half := len(w.inputs) / 2
	left := w.stage(1, w.inputs[:half])
	right := w.stage(2, w.inputs[half:])
	w.line("[operators.w3]\nkind = \"join\"\nleft = %q\nright = %q\non = [\"k\"]\nwithin = \"1s\"", left, right)
	w.line("columns = { v = \"left.v\", r = \"right.v\" }")
	w.fragment(3, []string{"w3"})
	if w.spec.Fragments == 3 {
		w.line("[outputs.out]\ninput = \"w3\"\nconnector = \"node\"")
		return
	}
	w.chain(4, w.spec.Fragments, []string{"w3"})
}

// lanes writes a fragment with two outputs, which the next one unites.
func (w *queryWriter) lanes() {
	half := len(w.inputs) / 2
	ops, ends := w.lane("a", w.inputs[:half])
	more, end := w.lane("b", w.inputs[half:])
	w.fragment(1, append(ops, more...))
	w.chain(2, w.spec.Fragments, []string{ends, end})
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
