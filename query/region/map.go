package region

import "slices"

// Map is a diagram with its regions.
type Map struct {
	d Diagram
	// Lists by vertex and by region, each as the bounds of a stretch of one array.
	reads, feeds lists // exchanges that a vertex reads, that it feeds
	members      lists // vertices of a region, in order
	region       []int32
}

// lists are many short lists in one array: list i is items[bounds[i]:bounds[i+1]].
type lists struct {
	bounds []int32
	items  []int32
}

func (l *lists) of(i int) []int32 { return l.items[l.bounds[i]:l.bounds[i+1]] }

// gather makes the lists of which of n keys has which values, by calling each for all pairs twice: to count, and to fill.
// Values of a key keep their order.
func gather(n int, each func(pair func(key, value int32))) lists {
	l := lists{bounds: make([]int32, n+1)}
	each(func(key, _ int32) { l.bounds[key+1]++ })
	for i := range n {
		l.bounds[i+1] += l.bounds[i]
	}
	l.items = make([]int32, l.bounds[n])
	next := slices.Clone(l.bounds[:n])
	each(func(key, value int32) {
		l.items[next[key]] = value
		next[key]++
	})
	return l
}

// New finds the regions of a diagram, in time proportional to its size. It keeps the diagram, which may not change any
// more. Errors: what is out of bounds, named twice or empty, and a *CycleError.
func New(d Diagram) (*Map, error) {
	if err := d.check(); err != nil {
		return nil, err
	}
	m := &Map{d: d}
	m.reads = gather(d.Vertices, func(pair func(key, value int32)) {
		for i, x := range d.Exchanges {
			for _, v := range x.Consumers {
				pair(int32(v), int32(i))
			}
		}
	})
	m.feeds = gather(d.Vertices, func(pair func(key, value int32)) {
		for i, x := range d.Exchanges {
			for _, v := range x.Producers {
				pair(int32(v), int32(i))
			}
		}
	})
	if cycle := m.cycle(); cycle != nil {
		return nil, d.cycleError(cycle)
	}
	count := m.join()
	m.members = gather(count, func(pair func(key, value int32)) {
		for v, r := range m.region {
			pair(r, int32(v))
		}
	})
	return m, nil
}

// Regions returns how many regions there are; they are numbered from 0, in order of their first vertices.
func (m *Map) Regions() int { return len(m.members.bounds) - 1 }

// Region returns the region of a vertex of the diagram.
func (m *Map) Region(v Vertex) int { return int(m.region[v]) }

// Members returns the vertices of a region, in order.
func (m *Map) Members(region int) []Vertex {
	items := m.members.of(region)
	out := make([]Vertex, len(items))
	for i, v := range items {
		out[i] = Vertex(v)
	}
	return out
}

// join finds the regions: what pipelined exchanges join. It returns their number.
func (m *Map) join() int {
	parent := make([]int32, m.d.Vertices)
	for i := range parent {
		parent[i] = int32(i)
	}
	find := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	for _, x := range m.d.Exchanges {
		if x.Kind != Pipelined {
			continue
		}
		root := find(int32(x.Producers[0]))
		for _, side := range [][]Vertex{x.Producers, x.Consumers} {
			for _, v := range side {
				// The smaller root stays, so that a region has the name of its first vertex.
				other := find(int32(v))
				root, other = min(root, other), max(root, other)
				parent[other] = root
			}
		}
	}
	m.region = make([]int32, m.d.Vertices)
	count := int32(0)
	for v := range m.region {
		if root := find(int32(v)); root == int32(v) {
			m.region[v] = count
			count++
		} else {
			m.region[v] = m.region[root]
		}
	}
	return int(count)
}

// cycle returns vertices on one cycle, nil if there is none. Exchanges are nodes here too, between their producers and their
// consumers, so that each vertex is looked at once for each exchange and not once for each edge.
func (m *Map) cycle() []Vertex {
	waits := make([]int32, len(m.d.Exchanges)) // producers that are not done
	for i, x := range m.d.Exchanges {
		waits[i] = int32(len(x.Producers))
	}
	open := make([]int32, m.d.Vertices) // exchanges read that are not done
	var ready []int32
	for v := range open {
		if open[v] = int32(len(m.reads.of(v))); open[v] == 0 {
			ready = append(ready, int32(v))
		}
	}
	done := 0
	for ; len(ready) > 0; done++ {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, x := range m.feeds.of(int(v)) {
			if waits[x]--; waits[x] > 0 {
				continue
			}
			for _, c := range m.d.Exchanges[x].Consumers {
				if open[c]--; open[c] == 0 {
					ready = append(ready, int32(c))
				}
			}
		}
	}
	if done == m.d.Vertices {
		return nil
	}
	return m.walkBack(open, waits)
}

// walkBack goes upstream from a vertex that waits for itself, always to one that waits, until one comes again.
func (m *Map) walkBack(open, waits []int32) []Vertex {
	v := Vertex(slices.IndexFunc(open, func(n int32) bool { return n > 0 }))
	at := make(map[Vertex]int)
	var path []Vertex
	for {
		if i, seen := at[v]; seen {
			cycle := path[i:]
			slices.Reverse(cycle)
			return cycle
		}
		at[v] = len(path)
		path = append(path, v)
		v = m.waitsFor(v, open, waits)
	}
}

// waitsFor returns a producer that keeps a vertex waiting.
func (m *Map) waitsFor(v Vertex, open, waits []int32) Vertex {
	for _, x := range m.reads.of(int(v)) {
		if waits[x] == 0 {
			continue
		}
		for _, p := range m.d.Exchanges[x].Producers {
			if open[p] > 0 {
				return p
			}
		}
	}
	return v
}
