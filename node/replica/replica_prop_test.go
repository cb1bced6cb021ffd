package replica

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fednode/dcaa"
	"fednode/query"
)

// TestAnyFailures: whatever fails, heals and restarts in whatever order, over whatever diagram: the stable results are at all
// times the first of those of a run without failures, and all of them in the end; no row of a tentative suffix is missing
// between the stable boundary and its own; and everything tentative ends.
func TestAnyFailures(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := &diagramGenerator{r: r}
		text := g.diagram()
		plan := randomPlan(r, text)
		s := scene{plan: plan, settings: randomSettings(r), replicas: rapid.IntRange(1, 2).Draw(r, "replicas"), producers: 2,
			slice: rapid.SampledFrom([]int{0, 1, 3}).Draw(r, "slice"), slow: rapid.Bool().Draw(r, "slow")}
		steps := randomSteps(r, len(plan.Inputs), s.replicas)
		length := int64(0)
		for _, st := range steps {
			length += st.after
		}
		w := newWorld(r, s)
		w.withReference(s, length)
		var told []string
		for _, st := range steps {
			w.run(st.after)
			st.take(w)
			told = append(told, fmt.Sprintf("%d %v", (w.now-epoch)/ms, st))
			if len(w.problems) > 0 {
				break
			}
		}
		w.heal()
		w.conclude()
		if len(w.problems) > 0 {
			r.Fatalf("%s\nafter:\n%s\nsteps:\n%s\nof:\n%s", strings.Join(w.problems, "\n"), strings.Join(w.events, "\n"), strings.Join(told, "\n"), text)
		}
	})
}

func randomSettings(r *rapid.T) dcaa.Settings {
	s := dcaa.DefaultSettings()
	s.Failure = rapid.SampledFrom([]dcaa.Policy{dcaa.Process, dcaa.Delay}).Draw(r, "failure")
	s.Stabilization = rapid.SampledFrom([]dcaa.Policy{dcaa.Process, dcaa.Delay, dcaa.Suspend}).Draw(r, "stabilization")
	s.Redo = rapid.SampledFrom([]dcaa.Redo{dcaa.RedoFork, dcaa.RedoUndo}).Draw(r, "redo")
	s.MaxDelay = int64(rapid.SampledFrom([]int{1000, 3000}).Draw(r, "max_delay")) * ms
	return s
}

func randomPlan(r *rapid.T, text string) *query.FragmentPlan {
	d, problems := query.Parse("q.toml", []byte(text), query.Options{Placement: query.Placement{Home: query.Place{Org: "north"}}})
	if err := problems.Err(); err != nil {
		r.Fatalf("%v\n%s", err, text)
	}
	plan := query.NewPlan(d, query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: true}, problems)
	widest := plan.Fragments[0]
	for _, f := range plan.Fragments {
		if len(f.Inputs) > len(widest.Inputs) {
			widest = f
		}
	}
	return widest
}

// happening is one thing that goes wrong, or right again, after some time.
type happening struct {
	after int64
	what  string
	a, b  string
	mode  string
}

func (h happening) String() string { return strings.TrimSpace(h.what + " " + h.a + " " + h.b + h.mode) }

func randomSteps(r *rapid.T, inputs, replicas int) []happening {
	var producers, nodes []string
	for n := range inputs {
		for k := range 2 {
			producers = append(producers, fmt.Sprintf("%c%d", 'a'+n, k+1))
		}
	}
	for n := range replicas {
		nodes = append(nodes, fmt.Sprintf("r%d", n+1))
	}
	var steps []happening
	for range rapid.IntRange(3, 16).Draw(r, "steps") {
		h := happening{after: 10 * ms * int64(rapid.SampledFrom([]int{300, 0, 1, 5, 20, 50, 120, 300, 450}).Draw(r, "after"))}
		node, producer := rapid.SampledFrom(nodes).Draw(r, "node"), rapid.SampledFrom(producers).Draw(r, "producer")
		mode := rapid.SampledFrom([]string{"lacks", "gives", "corrects", "stalls", "fails"}).Draw(r, "mode")
		switch rapid.IntRange(0, 12).Draw(r, "what") {
		case 0, 1:
			h.what, h.a, h.b = "cut", node, producer
		case 2:
			h.what, h.a, h.b = "heal", node, producer
		case 3:
			h.what, h.a, h.b = rapid.SampledFrom([]string{"cut", "heal"}).Draw(r, "way"), "client", node
		case 4:
			h.what, h.a, h.b = rapid.SampledFrom([]string{"cut", "heal"}).Draw(r, "way"), nodes[0], nodes[len(nodes)-1]
		case 5, 6, 7:
			h.what, h.a, h.mode = "set", producer, mode
		case 8:
			h.what, h.a = rapid.SampledFrom([]string{"save", "crash"}).Draw(r, "life"), node
		case 9:
			h.what, h.a = "restart", node
		case 10, 11: // of all producers of an input at once
			steps = append(steps, happening{after: h.after, what: "set", a: producer[:1] + "1", mode: mode})
			h = happening{what: "set", a: producer[:1] + "2", mode: mode}
		case 12:
			steps = append(steps, happening{after: h.after, what: "cut", a: node, b: producer[:1] + "1"})
			h = happening{what: "cut", a: node, b: producer[:1] + "2"}
		}
		steps = append(steps, h)
	}
	return steps
}

// take lets it happen.
func (h happening) take(w *world) {
	p, x := w.find(h.a)
	switch h.what {
	case "cut", "heal":
		if h.a != h.b {
			w.connect(h.a, h.b, h.what == "heal")
		}
	case "set":
		p.set(modes[h.mode])
	case "save":
		if x.r != nil {
			x.save()
		}
	case "crash":
		w.crash(x)
	case "restart":
		w.restart(x)
	}
}

// diagramGenerator draws diagrams over a and b, of operators that all give (k, v).
type diagramGenerator struct {
	r     *rapid.T
	b     strings.Builder
	names []string
}

func (g *diagramGenerator) diagram() string {
	g.b.WriteString(head)
	for _, s := range []string{"a", "b"} {
		g.declare("m"+s, "kind = \"map\"\ninput = %q\ncolumns = { k = \"k\", v = \"v\" }", s)
		g.names = append(g.names, "m"+s)
	}
	g.two("o0", "ma", "mb")
	for i := range rapid.IntRange(0, 3).Draw(g.r, "operators") {
		g.operator(fmt.Sprintf("o%d", i+1))
	}
	for i, name := range g.names[2:] {
		if i == len(g.names)-3 || rapid.IntRange(0, 3).Draw(g.r, "output") == 0 {
			fmt.Fprintf(&g.b, "[outputs.out%d]\nconnector = \"node\"\ninput = %q\n", i, name)
		}
	}
	return g.b.String()
}

func (g *diagramGenerator) declare(name, format string, args ...any) {
	fmt.Fprintf(&g.b, "[operators.%s]\n"+format+"\n", append([]any{name}, args...)...)
}

func (g *diagramGenerator) two(name, left, right string) {
	if rapid.Bool().Draw(g.r, "join") {
		g.declare(name, "kind = \"join\"\nleft = %q\nright = %q\non = [\"k\"]\nwithin = \"400ms\"\ncolumns = { v = \"right.v\" }", left, right)
	} else {
		g.declare(name, "kind = \"union\"\ninputs = [%q, %q]", left, right)
	}
	g.names = append(g.names, name)
}

func (g *diagramGenerator) operator(name string) {
	pick := func(label string) string { return rapid.SampledFrom(g.names).Draw(g.r, label) }
	in := pick("input")
	switch rapid.IntRange(0, 4).Draw(g.r, "kind") {
	case 0:
		g.declare(name, "kind = \"filter\"\ninput = %q\nwhere = \"v %% 3 <> 0\"", in)
	case 1:
		g.two(name, in, pick("other"))
		return
	case 2, 3:
		window := rapid.SampledFrom([]string{"300ms", "1s", "1500ms"}).Draw(g.r, "window")
		g.declare(name+"a", "kind = \"aggregate\"\ninput = %q\nwindow = { tumbling = %q }\ngroup_by = [\"k\"]\naggregates = { c = \"count()\", s = \"sum(v)\" }", in, window)
		g.declare(name, "kind = \"map\"\ninput = %q\ncolumns = { k = \"k\", v = \"c + s\" }", name+"a")
	case 4:
		g.declare(name, "kind = \"dedup\"\ninput = %q\nby = [\"k\"]\nwithin = \"500ms\"", in)
	}
	g.names = append(g.names, name)
}
