package query

import (
	"encoding/json"
	"fmt"
	"strings"
)

// JSON prints the explanation as one indented document.
func (e *Explanation) JSON() string {
	b, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return "{}" // it holds strings and finite numbers only
	}
	return string(b) + "\n"
}

// graph is the picture that dot and mermaid draw: boxes, some of them inside a frame, and arrows.
type graph struct {
	frames []frame
	boxes  []box
	arrows []arrow
}

type frame struct {
	title string
	boxes []box
}

type box struct {
	id    string
	kind  boxKind
	lines []string
}

type boxKind uint8

const (
	streamBox boxKind = iota
	unionBox
	operatorBox
	outputBox
)

type arrow struct{ from, to, label string }

// graph lays the explanation out.
func (e *Explanation) graph() *graph {
	g := &graph{}
	producer := map[string]string{} // stream -> box that gives it
	for i, s := range e.Streams {
		id := fmt.Sprintf("s%d", i)
		g.boxes = append(g.boxes, box{id: id, kind: streamBox, lines: []string{s.Name, s.Connector + " at " + s.Place}})
		producer[s.Stream] = id
	}
	ids := map[string]string{}
	for i := range e.Fragments {
		for j, o := range e.Fragments[i].Operators {
			ids[o.Name] = fmt.Sprintf("f%do%d", i, j)
		}
	}
	for i := range e.Fragments {
		g.fragment(&e.Fragments[i], i, ids, producer)
	}
	for i, o := range e.Outputs {
		id := fmt.Sprintf("out%d", i)
		g.boxes = append(g.boxes, box{id: id, kind: outputBox, lines: []string{o.Name, o.Connector + " at " + o.Place}})
		g.arrows = append(g.arrows, arrow{from: producer[o.Stream], to: id})
	}
	return g
}

// fragment lays one fragment out as a frame and its boxes, and notes which box gives each stream that leaves it.
func (g *graph) fragment(f *ExplainedFragment, n int, ids, producer map[string]string) {
	fr := frame{title: f.Name + " at " + f.Place}
	to := func(name string) (string, bool) { id, ok := ids[name]; return id, ok }
	port := map[string]string{}
	for i, u := range f.Unions {
		id := fmt.Sprintf("f%du%d", n, i)
		lines := []string{"SUnion"}
		if u.Replaces != "" {
			lines = append(lines, u.Replaces)
			port[u.Replaces] = id
		}
		fr.boxes = append(fr.boxes, box{id: id, kind: unionBox, lines: lines})
		for _, in := range u.Inputs {
			g.arrows = append(g.arrows, arrow{from: producer[in], to: id})
		}
		for _, t := range u.Targets {
			if next, ok := to(t); ok {
				g.arrows = append(g.arrows, arrow{from: id, to: next})
			}
		}
	}
	for _, o := range f.Operators {
		id := ids[o.Name]
		fr.boxes = append(fr.boxes, box{id: id, kind: operatorBox, lines: []string{o.Name, o.Kind, o.Detail}})
		for _, p := range o.Ports {
			edge := o.Name
			if p.Name != "" {
				edge += "." + p.Name
			}
			port[edge] = id
			for _, t := range p.Targets {
				if next, ok := to(t); ok {
					g.arrows = append(g.arrows, arrow{from: id, to: next, label: p.Name})
				}
			}
		}
	}
	for _, out := range f.Outputs {
		producer[out.Stream] = port[out.From]
	}
	g.frames = append(g.frames, fr)
}

// Dot draws the explanation for Graphviz.
func (e *Explanation) Dot() string {
	var b strings.Builder
	b.WriteString("digraph " + dotQuote(e.Query) + " {\n  rankdir=LR;\n  node [fontname=\"sans-serif\", fontsize=11];\n")
	g := e.graph()
	write := func(indent string, x box) {
		shape := [...]string{"cds", "invtriangle", "box", "note"}[x.kind]
		fmt.Fprintf(&b, "%s%s [shape=%s, label=%s];\n", indent, x.id, shape, dotQuote(strings.Join(x.lines, "\n")))
	}
	for _, x := range g.boxes {
		write("  ", x)
	}
	for i, f := range g.frames {
		fmt.Fprintf(&b, "  subgraph cluster_%d {\n    label=%s;\n", i, dotQuote(f.title))
		for _, x := range f.boxes {
			write("    ", x)
		}
		b.WriteString("  }\n")
	}
	for _, a := range g.arrows {
		fmt.Fprintf(&b, "  %s -> %s", a.from, a.to)
		if a.label != "" {
			fmt.Fprintf(&b, " [label=%s]", dotQuote(a.label))
		}
		b.WriteString(";\n")
	}
	b.WriteString("}\n")
	return b.String()
}

// dotQuote writes a string of Graphviz's language.
func dotQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

// Mermaid draws the explanation for Markdown pages.
func (e *Explanation) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	g := e.graph()
	write := func(indent string, x box) {
		open := [...]string{"[/", "{{", "[", "[("}[x.kind]
		shut := [...]string{"/]", "}}", "]", ")]"}[x.kind]
		b.WriteString(indent + x.id + open + mermaidQuote(strings.Join(x.lines, "\n")) + shut + "\n")
	}
	for _, x := range g.boxes {
		write("  ", x)
	}
	for i, f := range g.frames {
		fmt.Fprintf(&b, "  subgraph frame%d[%s]\n", i, mermaidQuote(f.title))
		for _, x := range f.boxes {
			write("    ", x)
		}
		b.WriteString("  end\n")
	}
	for _, a := range g.arrows {
		if a.label != "" {
			fmt.Fprintf(&b, "  %s -- %s --> %s\n", a.from, mermaidQuote(a.label), a.to)
		} else {
			fmt.Fprintf(&b, "  %s --> %s\n", a.from, a.to)
		}
	}
	return b.String()
}

// mermaidQuote writes a label; what the language would read as its own becomes an entity.
func mermaidQuote(s string) string {
	return `"` + strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "#", "&num;", "\n", "<br/>").Replace(s) + `"`
}
