package sim

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// On the same loads, reserved capacity helps, and contracts help more.
func TestCompare(t *testing.T) {
	cfg := Default()
	cfg.Nodes, cfg.Contracts = 60, 5
	for _, cfg.Load = range []float64{0.5, 0.8} {
		c, err := Compare(cfg, Silent{})
		require.NoError(t, err)
		require.Equal(t, c.Run.Initial, c.Alone.State)
		require.Equal(t, c.Run.Social.Initial, c.Alone.Social)
		require.Less(t, c.Reserved.Excess, c.Alone.Excess)
		require.Less(t, c.Contracts.Excess, c.Reserved.Excess)
		require.Less(t, c.Contracts.Social, c.Reserved.Social)
		require.Greater(t, c.SetAside, 0.0)
		require.Greater(t, c.Idle, 0.0)
		require.Less(t, c.Idle, 1.0)
	}
}

// Two nodes, one loaded and one not: half of each is set aside, and the loaded one places as much as is reserved for it.
func TestReserve(t *testing.T) {
	cfg := Default()
	cfg.Nodes, cfg.Contracts, cfg.Loads, cfg.Shares, cfg.Load = 2, 1, Given, []float64{1, 0}, 0.9
	w, err := newWorld(&cfg, Silent{})
	require.NoError(t, err)
	own := w.nodes[0].Load()
	require.InDelta(t, 1.44, own, 0.011)
	half, idle := w.reserve(0.5)
	require.InDelta(t, max(0, own-1.5*w.level)/own, half.Excess, 1e-9)
	require.Equal(t, 1, half.Overloaded)
	require.InDelta(t, 0.5, idle, 1e-9)
	none, _ := w.reserve(0)
	require.Equal(t, w.state(), none.State)
}

// Without contracts nothing can be reserved, and nothing moves.
func TestCompareWithoutContracts(t *testing.T) {
	cfg := Default()
	cfg.Nodes, cfg.Contracts = 20, 0
	c, err := Compare(cfg, Silent{})
	require.NoError(t, err)
	require.Equal(t, c.Alone.State, c.Reserved.State)
	require.Equal(t, c.Alone.State, c.Contracts.State)
	cfg.Vary = Variation{Kind: Walk, Step: 0.1}
	_, err = Compare(cfg, Silent{})
	require.ErrorContains(t, err, "stay as they are")
}
