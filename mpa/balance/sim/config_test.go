package sim

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/mpa/balance"
)

// Everything that is wrong with a run is said at once.
func TestRefusesBadInput(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   []string
	}{
		{func(c *Config) { c.Usage = nil }, []string{"no usage: that of two nodes at least"}},
		{func(c *Config) { c.Usage = []float64{90} }, []string{"one node: there is nowhere to move anything"}},
		{func(c *Config) { c.Usage = []float64{math.NaN(), math.Inf(1), -1} }, []string{"usage NaN of node 0", "usage +Inf of node 1", "usage -1 of node 2"}},
		{func(c *Config) { c.Usage[0] = 1001 }, []string{"usage 1001 of node 0: from 0 to 1000 %"}},
		{func(c *Config) { c.Capacity = []float64{1, 0} }, []string{"capacity 0 of node 1: a number above 0"}},
		{func(c *Config) { c.Capacity = []float64{1} }, []string{"1 capacities for 2 nodes"}},
		{func(c *Config) { c.Units = []float64{101} }, []string{"unit of 101: it is larger than the largest node, which has 100"}},
		{func(c *Config) { c.Units = []float64{0, math.NaN()} }, []string{"unit of 0", "unit of NaN"}},
		{func(c *Config) { c.Units = []float64{1e-9} }, []string{"choose larger ones"}},
		{func(c *Config) { c.Rounds = MaxRounds; c.Units = []float64{0.01} }, []string{"that is too much"}},
		{func(c *Config) { c.Rounds = 0 }, []string{"0 rounds"}},
		{func(c *Config) { c.Unreachable = []int{2} }, []string{"unreachable node 2: nodes 0 to 1"}},
		{func(c *Config) { c.Fail = []Failure{{0, 1}, {0, 99}, {1, 2}} }, []string{"failure of node 0", "failure in round 99", "all nodes fail"}},
		{func(c *Config) { c.Balance.Weights = balance.Weights{} }, []string{"all weights of resources are 0"}},
		{func(c *Config) { c.Balance.Gain = math.NaN(); c.Vary.Walk = -1; c.Rounds = -1 }, []string{"gain NaN", "step of the walk -1", "-1 rounds"}},
		{func(c *Config) { c.Vary = Variation{Burst: 0.1, Factor: math.Inf(1), Length: 0} }, []string{"factor of a burst +Inf", "length of a burst 0"}},
	} {
		cfg := Config{Usage: []float64{90, 10}, Units: []float64{5}, Rounds: 10, Balance: balance.Default()}
		c.change(&cfg)
		_, err := Run(cfg, nil)
		require.Error(t, err)
		for _, w := range c.want {
			require.ErrorContains(t, err, w)
		}
	}
	_, err := (&Starts{Count: 0, MinNodes: 1, MaxNodes: 0, Unit: math.NaN()}).Run(balance.Default(), nil)
	for _, w := range []string{"0 starts", "1 to 0 nodes", "unit of NaN", "0 rounds"} {
		require.ErrorContains(t, err, w)
	}
	_, err = Draw([]float64{0, 0}, 10, 1)
	require.ErrorContains(t, err, "all weights are 0")
	_, err = Draw([]float64{-1, math.Inf(1), 1}, 0, 1)
	for _, w := range []string{"weight -1 of node 0", "weight +Inf of node 1", "0 draws"} {
		require.ErrorContains(t, err, w)
	}
	_, err = Draw(nil, 1, 1)
	require.ErrorContains(t, err, "no weights")
}

// Loads above full are taken as they are: the node has more to do than it can, and gives what others take.
func TestAboveFull(t *testing.T) {
	r, err := Run(Config{Usage: []float64{250, 10}, Units: []float64{5}, Rounds: 10, Balance: settings(balance.Threshold)}, nil)
	require.NoError(t, err)
	require.Equal(t, []float64{140, 120}, r.Final())
	require.Equal(t, 1, r.RestAfter)
}
