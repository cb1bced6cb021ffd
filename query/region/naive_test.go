package region

import "slices"

// naive is the search that the rule states, edge by edge: what the real one must agree with.
type naive struct {
	d      Diagram
	region []int
}

// newNaive joins what pipelined edges join, until nothing changes.
func newNaive(d Diagram) *naive {
	n := &naive{d: d, region: make([]int, d.Vertices)}
	for v := range n.region {
		n.region[v] = v
	}
	for changed := true; changed; {
		changed = false
		n.edges(func(_ int, p, c Vertex, k Kind) {
			if a, b := n.region[p], n.region[c]; k == Pipelined && a != b {
				n.region[p], n.region[c] = min(a, b), min(a, b)
				changed = true
			}
		})
	}
	return n
}

// edges calls f for each edge.
func (n *naive) edges(f func(exchange int, producer, consumer Vertex, k Kind)) {
	for i, x := range n.d.Exchanges {
		for _, p := range x.Producers {
			for _, c := range x.Consumers {
				f(i, p, c, x.Kind)
			}
		}
	}
}

// restart returns the vertices that restart: the smallest set with the failed ones that is closed under the rule.
func (n *naive) restart(failed []Vertex, available func(Output) bool) []Vertex {
	in := make([]bool, n.d.Vertices) // by region, named by a vertex
	for _, v := range failed {
		in[n.region[v]] = true
	}
	for changed := true; changed; {
		changed = false
		n.edges(func(x int, p, c Vertex, k Kind) {
			a, b := n.region[p], n.region[c]
			if in[a] && !in[b] {
				in[b], changed = true, true
			}
			if in[b] && !in[a] && (k == Pipelined || !available(Output{x, p})) {
				in[a], changed = true, true
			}
		})
	}
	var out []Vertex
	for v := range n.region {
		if in[n.region[v]] {
			out = append(out, Vertex(v))
		}
	}
	return out
}

// cyclic reports whether data would go round, by taking away vertices that read from nobody left.
func (n *naive) cyclic() bool {
	left := map[Vertex]bool{}
	for v := range n.d.Vertices {
		left[Vertex(v)] = true
	}
	for changed := true; changed; {
		changed = false
		reads := map[Vertex]bool{}
		n.edges(func(_ int, p, c Vertex, _ Kind) {
			if left[p] {
				reads[c] = true
			}
		})
		for v := range left {
			if !reads[v] {
				delete(left, v)
				changed = true
			}
		}
	}
	return len(left) > 0
}

// isEdge reports whether one vertex reads another.
func (n *naive) isEdge(producer, consumer Vertex) bool {
	return slices.ContainsFunc(n.d.Exchanges, func(x Exchange) bool {
		return slices.Contains(x.Producers, producer) && slices.Contains(x.Consumers, consumer)
	})
}
