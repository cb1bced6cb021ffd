package scenario

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/testnet"
)

// TestChanges: what counts is that a reader reads from another replica than before, not that it was without one meanwhile.
func TestChanges(t *testing.T) {
	var c changes
	told := 0
	look := func(input, sink string) {
		q := api.QueryStatus{QueryInfo: api.QueryInfo{Name: "watch"}, Sinks: []api.SinkStatus{{Output: "rows", Producer: sink}},
			Fragments: []api.FragmentStatus{{Name: "core", Inputs: []api.InputStatus{{Stream: "s", Producer: input}}}}}
		c.look(&testnet.View{Nodes: []testnet.NodeView{{ID: "north-1", Status: &api.Status{Queries: []api.QueryStatus{q}}}, {ID: "gone"}}}, "watch", func(string) { told++ })
	}
	for _, from := range []string{"south/a", "", "south/a", "south/b", "south/b", "", "south/a"} {
		look(from, "north/b")
	}
	n, who := c.most()
	require.Equal(t, 2, n)
	require.Equal(t, "north-1/core of s", who)
	look("south/a", "north/c")
	require.Equal(t, 1, c.count["north-1 of rows"])
	require.Equal(t, 3, told)
	c.recount()
	n, _ = c.most()
	require.Zero(t, n)
}
