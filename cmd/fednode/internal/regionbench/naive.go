package regionbench

import "fednode/query/region"

// naive searches edge by edge: each producer's output has a list of its consumers, each consumer one of its producers.
type naive struct {
	d        region.Diagram
	region   []int32
	in       []bool // by region, named by its first vertex
	order    []int32
	members  [][]int32
	reads    [][]int // exchanges of a vertex
	feeds    [][]int
	vertices []region.Vertex
}

// restart returns the vertices that restart.
func (n *naive) restart(failed region.Vertex, available func(region.Output) bool) []region.Vertex {
	n.regions()
	n.in = make([]bool, n.d.Vertices)
	n.add(n.region[failed])
	for i := 0; i < len(n.order); i++ {
		for _, v := range n.members[n.order[i]] {
			n.visit(v, available)
		}
	}
	for v, r := range n.region {
		if n.in[r] {
			n.vertices = append(n.vertices, region.Vertex(v))
		}
	}
	return n.vertices
}

func (n *naive) add(r int32) {
	if !n.in[r] {
		n.in[r] = true
		n.order = append(n.order, r)
	}
}

// regions joins what each pipelined edge joins.
func (n *naive) regions() {
	n.region = make([]int32, n.d.Vertices)
	n.reads, n.feeds = make([][]int, n.d.Vertices), make([][]int, n.d.Vertices)
	for v := range n.region {
		n.region[v] = int32(v)
	}
	find := func(v int32) int32 {
		for n.region[v] != v {
			n.region[v] = n.region[n.region[v]]
			v = n.region[v]
		}
		return v
	}
	for i, x := range n.d.Exchanges {
		for _, p := range x.Producers {
			n.feeds[p] = append(n.feeds[p], i)
		}
		for _, c := range x.Consumers {
			n.reads[c] = append(n.reads[c], i)
		}
		if x.Kind != region.Pipelined {
			continue
		}
		for _, p := range x.Producers {
			for _, c := range x.Consumers {
				if a, b := find(int32(p)), find(int32(c)); a != b {
					n.region[max(a, b)] = min(a, b)
				}
			}
		}
	}
	n.members = make([][]int32, n.d.Vertices)
	for v := range n.region {
		r := find(int32(v))
		n.region[v] = r
		n.members[r] = append(n.members[r], int32(v))
	}
}

// visit looks at every edge of a vertex.
func (n *naive) visit(v int32, available func(region.Output) bool) {
	for _, i := range n.reads[v] {
		x := &n.d.Exchanges[i]
		for _, p := range x.Producers {
			if r := n.region[p]; !n.in[r] && (x.Kind == region.Pipelined || !available(region.Output{Exchange: i, Producer: p})) {
				n.add(r)
			}
		}
	}
	for _, i := range n.feeds[v] {
		for _, c := range n.d.Exchanges[i].Consumers {
			n.add(n.region[c])
		}
	}
}
