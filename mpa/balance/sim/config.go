package sim

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"fednode/mpa/balance"
)

// Config fixes a run. Usage is in percent of a node's own capacity, units in percent of a node of capacity 1.
type Config struct {
	// Usage of each node at the start, in percent; above 100 is more than it can do.
	Usage []float64
	// Capacity of each node in those of a usual one; empty if all have 1.
	Capacity []float64
	// Units is how much load one unit has, at one figure for all nodes or one each; what is left of a node's load is a
	// smaller unit.
	Units []float64
	// Rounds is how long the run is.
	Rounds int
	// Balance are the settings; its randomness is replaced by one from Seed.
	Balance balance.Config
	Vary    Variation
	// Unreachable nodes do not report: they count for nothing and are never targets.
	Unreachable []int
	// Fail are nodes that die, in order of round.
	Fail []Failure
	Seed uint64
}

// Failure is a node that dies before a round.
type Failure struct{ Node, Round int }

// Limits of a run.
const (
	MaxNodes  = 1_000
	MaxUnits  = 100_000
	MaxRounds = 1_000_000
	maxUsage  = 1_000
	// maxFigures bounds rounds times nodes, which are kept; maxReadings rounds times units, which take time.
	maxFigures  = 20_000_000
	maxReadings = 1_000_000_000
)

// Validate reports everything that is wrong with a configuration.
func (c *Config) Validate() error {
	var problems []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	n := len(c.Usage)
	wrong(n == 0, "no usage: that of two nodes at least is expected, such as 90,10")
	wrong(n == 1, "one node: there is nowhere to move anything; two at least are expected, such as 90,10")
	wrong(n > MaxNodes, "%d nodes: up to %d are expected", n, MaxNodes)
	for i, v := range c.Usage {
		wrong(!(v >= 0 && v <= maxUsage), "usage %g of node %d: from 0 to %d %% is expected", v, i, maxUsage)
	}
	wrong(len(c.Capacity) != 0 && len(c.Capacity) != n, "%d capacities for %d nodes: one each is expected", len(c.Capacity), n)
	for i, v := range c.Capacity {
		wrong(!(v > 0 && v <= 1e6), "capacity %g of node %d: a number above 0 is expected", v, i)
	}
	wrong(len(c.Units) != 1 && len(c.Units) != n, "%d sizes of units for %d nodes: one for all, or one each is expected", len(c.Units), n)
	for _, v := range c.Units {
		wrong(!(v > 0 && v < math.Inf(1)), "unit of %g: a number above 0 is expected", v)
		wrong(v > 100*c.largest() && v < math.Inf(1), "unit of %g: it is larger than the largest node, which has %g", v, 100*c.largest())
	}
	wrong(c.Rounds < 1 || c.Rounds > MaxRounds, "%d rounds: from 1 to %d are expected", c.Rounds, MaxRounds)
	for _, i := range c.Unreachable {
		wrong(i < 0 || i >= n, "unreachable node %d: nodes 0 to %d are there", i, n-1)
	}
	dead := make(map[int]bool)
	for _, f := range c.Fail {
		wrong(f.Node < 0 || f.Node >= n || dead[f.Node], "failure of node %d: each of nodes 0 to %d can fail once", f.Node, n-1)
		wrong(f.Round < 1 || f.Round > c.Rounds, "failure in round %d: rounds 1 to %d are there", f.Round, c.Rounds)
		dead[f.Node] = true
	}
	wrong(len(dead) >= n && n > 0, "all nodes fail: one at least has to stay")
	if len(problems) == 0 {
		count := c.count()
		wrong(c.Rounds*n > maxFigures || float64(c.Rounds)*count > maxReadings, "%d rounds of %d nodes with about %.0f units: that is too much; choose less of one", c.Rounds, n, count)
		wrong(count > MaxUnits, "about %.0f units: up to %d are expected; choose larger ones", count, MaxUnits)
	}
	return errors.Join(append(problems, c.Balance.Validate(), c.Vary.validate())...)
}

// capacity is a node's, in those of a usual one.
func (c *Config) capacity(node int) float64 {
	if len(c.Capacity) == 0 {
		return 1
	}
	return c.Capacity[node]
}

// largest is the capacity of the largest node.
func (c *Config) largest() float64 {
	if len(c.Capacity) == 0 {
		return 1
	}
	return slices.Max(c.Capacity)
}

// unit is how large the units of a node are.
func (c *Config) unit(node int) float64 {
	if len(c.Units) == 1 {
		return c.Units[0]
	}
	return c.Units[node]
}

func (c *Config) count() (n float64) {
	for i, v := range c.Usage {
		n += math.Ceil(v * c.capacity(i) / c.unit(i))
	}
	return n
}
