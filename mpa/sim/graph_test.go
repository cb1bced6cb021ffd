package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every kind of graph has what it promises: no pair twice, nobody with itself, as many contracts as asked for.
func TestGraphs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Default()
		cfg.Nodes = rapid.IntRange(1, 120).Draw(t, "nodes")
		cfg.Graph = Graph(rapid.IntRange(0, int(ScaleFree)).Draw(t, "graph"))
		cfg.Contracts = rapid.IntRange(0, min(10, cfg.Nodes-1)).Draw(t, "contracts")
		edges, err := cfg.edges(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)))
		require.NoError(t, err)
		degree, seen := make([]int, cfg.Nodes), make(map[[2]int]bool)
		for _, e := range edges {
			require.Less(t, e.A, e.B)
			require.False(t, seen[[2]int{e.A, e.B}])
			seen[[2]int{e.A, e.B}] = true
			degree[e.A]++
			degree[e.B]++
		}
		for i, d := range degree {
			switch cfg.Graph {
			case Random, Ring:
				require.GreaterOrEqual(t, d, cfg.Contracts, "node %d", i)
			case Regular:
				require.LessOrEqual(t, d, cfg.Contracts, "node %d", i)
			case ScaleFree:
				require.GreaterOrEqual(t, d, min(cfg.Contracts, i), "node %d", i)
			}
		}
		switch cfg.Graph {
		case Tree:
			if cfg.Contracts > 0 {
				require.Len(t, edges, cfg.Nodes-1)
			}
		case Star:
			require.Equal(t, cfg.Nodes-1, degree[0])
		}
	})
}

// Of a regular graph of usual size hardly a contract is missing.
func TestRegularGraphIsFull(t *testing.T) {
	cfg := Default()
	cfg.Nodes, cfg.Graph, cfg.Contracts = 1000, Regular, 10
	edges, err := cfg.edges(rand.New(rand.NewPCG(1, 1)))
	require.NoError(t, err)
	require.InDelta(t, 5000, len(edges), 2)
}
