package balance

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every operator is in one run, all of which its nodes can run and none of which shrinks them; each operator comes after what it
// reads; runs read each other without a cycle.
func TestSegmentProperties(t *testing.T) {
	capabilities := []Capability{"a", "b", "c"}
	rapid.Check(t, func(t *rapid.T) {
		nodes := []Node{{ID: "all", Provides: capabilities}}
		for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
			nodes = append(nodes, Node{ID: NodeID(fmt.Sprint("n", i)), Provides: rapid.SliceOfDistinct(rapid.SampledFrom(capabilities), rapid.ID).Draw(t, "provides")})
		}
		var g Graph
		for i := range rapid.IntRange(0, 14).Draw(t, "operators") {
			o := Operator{Name: fmt.Sprint("o", i), Needs: rapid.SliceOfNDistinct(rapid.SampledFrom(capabilities), 0, 1, rapid.ID).Draw(t, "needs")}
			if i > 0 {
				o.Inputs = rapid.SliceOfN(rapid.IntRange(0, i-1), 0, 3).Draw(t, "inputs")
			}
			g.Operators = append(g.Operators, o)
		}
		runs, err := Segment(g, nodes)
		require.NoError(t, err)
		of := make(map[int]int)
		for r, run := range runs {
			require.NotEmpty(t, run.Able)
			for k, o := range run.Operators {
				require.NotContains(t, of, o)
				of[o] = r
				able, err := Segment(Graph{[]Operator{{Name: "x", Needs: g.Operators[o].Needs}}}, nodes)
				require.NoError(t, err)
				require.Subset(t, able[0].Able, run.Able)
				if k == 0 {
					require.Equal(t, able[0].Able, run.Able)
				}
			}
		}
		require.Len(t, of, len(g.Operators))
		requireNoCycle(t, g, of, len(runs))
	})
}

// requireNoCycle takes away runs that read none that is left, until none is left.
func requireNoCycle(t *rapid.T, g Graph, of map[int]int, runs int) {
	reads := make([]map[int]bool, runs)
	for r := range reads {
		reads[r] = make(map[int]bool)
	}
	for i, o := range g.Operators {
		for _, in := range o.Inputs {
			if of[in] != of[i] {
				reads[of[i]][of[in]] = true
			}
		}
	}
	gone := make(map[int]bool)
	for range runs {
		for r, from := range reads {
			ready := true
			for f := range from {
				ready = ready && gone[f]
			}
			if ready {
				gone[r] = true
			}
		}
	}
	require.Len(t, gone, runs, "runs read each other in a circle")
}
