package region

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A hundred thousand vertices in one line, in one ring and in one exchange: nothing recurses, and nothing is quadratic.
func TestLargeDiagrams(t *testing.T) {
	const n = 100_000
	all := make([]Vertex, n)
	line := make([]Exchange, n-1)
	for i := range all {
		all[i] = Vertex(i)
	}
	for i := range line {
		line[i] = Exchange{Producers: all[i : i+1], Consumers: all[i+1 : i+2], Kind: Pipelined}
	}
	m, err := New(Diagram{Vertices: n, Exchanges: line})
	require.NoError(t, err)
	require.Equal(t, 1, m.Regions())
	set, err := m.Restart(all[n/2:n/2+1], nil)
	require.NoError(t, err)
	require.Len(t, set.Vertices, n)

	ring := append(line[:n-1:n-1], Exchange{Producers: all[n-1:], Consumers: all[:1]})
	_, err = New(Diagram{Vertices: n, Exchanges: ring})
	var cycle *CycleError
	require.ErrorAs(t, err, &cycle)
	require.Len(t, cycle.Vertices, n)
	require.Less(t, len(err.Error()), 1000)

	_, err = New(Diagram{Vertices: n, Exchanges: []Exchange{{Producers: all, Consumers: all}}})
	require.ErrorAs(t, err, &cycle)
	_, err = New(Diagram{Vertices: n, Exchanges: []Exchange{{Producers: all[:n/2], Consumers: append(all[n/2:n:n], all[n-1])}}})
	require.ErrorContains(t, err, "twice as a consumer")

	// The same failure many times over, with every vertex failed at once.
	stored, err := New(Diagram{Vertices: n, Exchanges: []Exchange{{Producers: all[:n/2], Consumers: all[n/2:]}}})
	require.NoError(t, err)
	set, err = stored.Restart(append(all[:n:n], all...), func(Output) bool { return true })
	require.NoError(t, err)
	require.Len(t, set.Vertices, n)
}
