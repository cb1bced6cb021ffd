package balance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// Usage is the highest of the resources, each times its weight; what has no bound never counts.
func TestUsage(t *testing.T) {
	c := Capacity{4, 200, math.Inf(1), 50}
	l := Load{CPU: 2, Memory: 120, In: 1e9, Out: 5, Messages: 1e9}
	require.Equal(t, 60.0, usage(&l, &c, &Weights{1, 1, 1, 1}))
	require.Equal(t, 100.0, usage(&l, &c, &Weights{2, 1, 1, 1}))
	require.Equal(t, 20.0, usage(&l, &c, &Weights{0, 0, 1, 2}))
}

// The first reading counts as it is; later ones are smoothed; a move takes the history along.
func TestSmoothing(t *testing.T) {
	b, err := New(Default())
	require.NoError(t, err)
	require.NoError(t, b.Join(cpuNode("a", 100)))
	require.NoError(t, b.Join(cpuNode("b", 200)))
	require.NoError(t, b.Adopt(Unit{ID: "u", Expected: Load{CPU: 99}}, "a"))
	read := func(v float64) { require.NoError(t, b.Report("a", []Reading{{Unit: "u", Load: Load{CPU: v}}})) }
	read(20)
	require.Equal(t, 20.0, b.Status()[0].Usage)
	read(40)
	require.InDelta(t, 0.9*20+0.1*40, b.Status()[0].Usage, 1e-12)
	require.Equal(t, 40.0, b.Status()[0].RawUsage)
	require.NoError(t, b.Report("b", nil))
	_, err = b.Fail("a")
	require.NoError(t, err)
	require.InDelta(t, (0.9*20+0.1*40)/2, b.Status()[0].Usage, 1e-12, "twice the node, half the usage")
	require.NoError(t, b.Report("b", []Reading{{Unit: "u", Load: Load{CPU: 40}}, {Unit: "gone", Load: Load{CPU: 1}}}))
	require.InDelta(t, (0.9*22+0.1*40)/2, b.Status()[0].Usage, 1e-12)
}
