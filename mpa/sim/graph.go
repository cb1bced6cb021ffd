package sim

import (
	"fmt"
	"math/rand/v2"
)

// Graph is a kind of graph of contracts.
type Graph uint8

// Kinds of graphs.
const (
	// Random: each node makes contracts with others chosen at random until it has enough.
	Random Graph = iota
	// Regular: each node has just as many, with others chosen at random; one too few where the last ones left over cannot be
	// joined.
	Regular
	// Ring: each node has one with its nearest on both sides.
	Ring
	// Tree: each node has one with its parent and its children.
	Tree
	// Star: every node has one with the first.
	Star
	// ScaleFree: nodes come one by one, and make contracts with those that have many.
	ScaleFree
	// File: the contracts are given.
	File
)

var graphNames = [...]string{"random", "regular", "ring", "tree", "star", "scale-free", "file"}

// String returns the name of the graph.
func (g Graph) String() string { return graphNames[min(int(g), len(graphNames)-1)] }

// ParseGraph reads the name of a graph.
func ParseGraph(name string) (Graph, error) {
	for g, n := range graphNames {
		if n == name {
			return Graph(g), nil
		}
	}
	return 0, fmt.Errorf("graph %q: random, regular, ring, tree, star, scale-free or file is expected", name)
}

// Edge is a contract between two nodes. Min and Max are its prices as shares of the highest price; both 0 for the run's
// range.
type Edge struct {
	A, B     int
	Min, Max float64
}

// edges lists the contracts of a run, each pair once, the lower node first.
func (c *Config) edges(random *rand.Rand) ([]Edge, error) {
	g := newGraphBuilder(c.Nodes)
	n := c.Nodes
	switch c.Graph {
	case Random:
		g.random(n, c.Contracts, random)
	case Regular:
		g.regular(n, c.Contracts, random)
	case Ring:
		for distance := 1; distance <= (c.Contracts+1)/2; distance++ {
			for i := range n {
				g.join(i, (i+distance)%n)
			}
		}
	case Tree:
		for i := 1; i < n && c.Contracts > 0; i++ {
			g.join(i, (i-1)/c.Contracts)
		}
	case Star:
		for i := 1; i < n; i++ {
			g.join(0, i)
		}
	case ScaleFree:
		g.scaleFree(n, c.Contracts, random)
	case File:
		return c.given(g)
	}
	return g.list, nil
}

// graphBuilder collects pairs.
type graphBuilder struct {
	list   []Edge
	has    map[[2]int]bool
	degree []int
}

func newGraphBuilder(nodes int) *graphBuilder {
	return &graphBuilder{has: make(map[[2]int]bool), degree: make([]int, nodes)}
}

// join adds a contract and reports whether it is new.
func (g *graphBuilder) join(a, b int) bool {
	a, b = min(a, b), max(a, b)
	if a == b || g.has[[2]int{a, b}] {
		return false
	}
	g.has[[2]int{a, b}] = true
	g.degree[a]++
	g.degree[b]++
	g.list = append(g.list, Edge{A: a, B: b})
	return true
}

func (g *graphBuilder) random(n, least int, random *rand.Rand) {
	for i := range n {
		for g.degree[i] < min(least, n-1) {
			g.join(i, random.IntN(n))
		}
	}
}

// regular gives each node as many ends as it shall have contracts, and joins ends that are drawn. Pairs that cannot be
// joined are drawn again, as long as that helps.
func (g *graphBuilder) regular(n, each int, random *rand.Rand) {
	ends := make([]int, 0, n*each)
	for i := range n {
		for range min(each, n-1) {
			ends = append(ends, i)
		}
	}
	for tries := 0; len(ends) > 1 && tries < 100; tries++ {
		random.Shuffle(len(ends), func(i, k int) { ends[i], ends[k] = ends[k], ends[i] })
		var left []int
		for k := 0; k+1 < len(ends); k += 2 {
			if !g.join(ends[k], ends[k+1]) {
				left = append(left, ends[k], ends[k+1])
			}
		}
		if len(ends)%2 == 1 {
			left = append(left, ends[len(ends)-1])
		}
		ends = left
	}
}

// scaleFree lets each new node join least others, chosen in proportion to the contracts that they have.
func (g *graphBuilder) scaleFree(n, least int, random *rand.Rand) {
	var ends []int // each node once for each of its contracts
	for i := 1; i < n; i++ {
		for made := 0; made < min(least, i); {
			to := random.IntN(i)
			if len(ends) > 0 && random.IntN(2*least) > 0 { // now and then anybody, else those without contracts never get one
				to = ends[random.IntN(len(ends))]
			}
			if to != i && g.join(i, to) {
				made++
			}
		}
		for k := len(g.list) - min(least, i); k < len(g.list); k++ {
			ends = append(ends, g.list[k].A, g.list[k].B)
		}
	}
}

// given checks the edges of a file.
func (c *Config) given(g *graphBuilder) ([]Edge, error) {
	for k, e := range c.Edges {
		switch {
		case e.A < 0 || e.B < 0 || e.A >= c.Nodes || e.B >= c.Nodes:
			return nil, fmt.Errorf("contract %d is between nodes %d and %d: from 0 to %d is expected", k+1, e.A, e.B, c.Nodes-1)
		case e.A == e.B:
			return nil, fmt.Errorf("contract %d is of node %d with itself", k+1, e.A)
		case !(e.Min >= 0 && e.Min <= e.Max && e.Max <= 1e6):
			return nil, fmt.Errorf("contract %d has prices %g to %g: from 0, the lowest first, is expected", k+1, e.Min, e.Max)
		case !g.join(e.A, e.B):
			return nil, fmt.Errorf("contract %d is the second one between nodes %d and %d", k+1, e.A, e.B)
		}
		last := &g.list[len(g.list)-1]
		last.Min, last.Max = e.Min, e.Max
	}
	return g.list, nil
}
