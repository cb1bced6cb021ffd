package region

import "fednode/query"

// Fragments returns the diagram of a plan: its fragments are the vertices, in their order, and each stream between them is
// an exchange. Output buffers keep what was not acknowledged, so that all of them are stored; together says which streams
// are pipelined instead, because their fragments are to restart as one. It may be nil.
func Fragments(p *query.Plan, together func(stream string) bool) Diagram {
	d := Diagram{Vertices: len(p.Fragments)}
	at := make(map[string]Vertex, len(p.Fragments))
	for i, f := range p.Fragments {
		at[f.Name] = Vertex(i)
		d.Names = append(d.Names, f.Name)
	}
	readers := make(map[string][]Vertex)
	for i, f := range p.Fragments {
		for _, in := range f.Inputs {
			if in.Source == nil {
				readers[in.Stream] = append(readers[in.Stream], Vertex(i))
			}
		}
	}
	for _, f := range p.Fragments {
		for _, out := range f.Outputs {
			if len(readers[out.Stream]) == 0 {
				continue // a sink reads it
			}
			x := Exchange{Producers: []Vertex{at[f.Name]}, Consumers: readers[out.Stream]}
			if together != nil && together(out.Stream) {
				x.Kind = Pipelined
			}
			d.Exchanges = append(d.Exchanges, x)
		}
	}
	return d
}
