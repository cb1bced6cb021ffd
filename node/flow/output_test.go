package flow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// A boundary that waits in the output says how old it has become; a cursor that takes tentative results is known until it is
// closed.
func TestOutputAges(t *testing.T) {
	now := time.Unix(1000, 0)
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	out := NewOutput(OutputConfig{Name: "north/q/o", Limit: 4000, Generation: 1, Start: start, Now: func() time.Time { return now }})
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 100, Age: 5})
	out.Append(&tuple.Frame{Kind: tuple.TentativeBoundary, Time: 200, Age: 5})
	now = now.Add(3 * time.Second)
	c, err := out.Open(Subscriber{Name: "south/m", From: start, Tentative: true, TentativeFrom: tuple.MinTime})
	require.NoError(t, err)
	require.True(t, out.Relied())
	for range 2 {
		f, err := c.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, int64(3_000_005), f.Age)
	}
	c.Close()
	c.Close()
	require.False(t, out.Relied())
	plain, err := out.Open(Subscriber{Name: "south/m", From: start})
	require.NoError(t, err)
	defer plain.Close()
	require.False(t, out.Relied())
}
