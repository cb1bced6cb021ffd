package sim

import (
	"fmt"
	"math"
	"slices"

	"fednode/contracts"
	"fednode/mpa"
)

// Config fixes a run. Loads are in units of a node's full speed, times in microseconds unless they say otherwise.
type Config struct {
	// Nodes is how many participants there are, 1 to MaxNodes.
	Nodes int
	// Graph says who has a contract with whom; Contracts is how many each has at least (random, regular, ring, scale-free) or how many
	// children (tree). Edges are the contracts of Graph File.
	Graph     Graph
	Contracts int
	Edges     []Edge
	// Load is the total load as a share of total capacity, where one more unit costs the highest price.
	Load float64
	// Loads says how load is spread, Skew how unevenly (Skewed), Shares the load of each node in proportion (Given).
	Loads  Loads
	Skew   float64
	Shares []float64
	// TaskMin and TaskMax are the smallest and the largest load of a task; sizes between are uniform.
	TaskMin, TaskMax float64
	// Cost is each participant's.
	Cost Cost
	// Full is the load at which one more unit costs the highest price: it fixes that price.
	Full float64
	// Range is the width of the price range as a share of the highest price, 0 (fixed) to 1.
	Range float64
	// Moving and Margin are m and h as shares of the highest price.
	Moving, Margin float64
	Hysteresis     float64
	// Vary says how loads change.
	Vary Variation
	// Loss is the share of messages that are lost; the others take MinDelay to MaxDelay. Migration is how long a task takes
	// to move.
	Loss               float64
	MinDelay, MaxDelay int64
	Migration          int64
	// Duration is how long the run takes at most.
	Duration int64
	Settings mpa.Settings
	Seed     uint64
	// Explain keeps decisions, for Observer.
	Explain bool
}

// Cost names a cost function for every participant.
type Cost struct {
	// Kind is queue, power or table.
	Kind     CostKind
	Exponent float64     // of power
	Points   []mpa.Point // of table, loads in units of full speed
}

// CostKind is a kind of cost function.
type CostKind uint8

// Kinds of cost functions.
const (
	QueueCost CostKind = iota
	PowerCost
	TableCost
)

// function returns the cost function with a scale of a unit of money.
func (c Cost) function() (mpa.Cost, error) {
	switch c.Kind {
	case PowerCost:
		return mpa.NewPower(1, contracts.Micro, c.Exponent)
	case TableCost:
		return mpa.NewTable(c.Points)
	}
	return mpa.NewQueue(1, contracts.Micro)
}

// Limits of a run.
const (
	MaxNodes     = 100_000
	MaxContracts = 1_000
	maxTasks     = 20_000_000
	maxDuration  = 30 * 24 * 3600 * second
	second       = 1_000_000
)

// Default returns the run that is compared with published figures: 995 nodes, exponential loads, tasks of 0.01.
func Default() Config {
	return Config{
		Nodes: 995, Contracts: 10, Load: 0.8, Loads: Exponential, Skew: 1, TaskMin: 0.01, TaskMax: 0.01,
		Full: 0.8, Range: 0.1, Moving: 0.002, Margin: 0.005, Hysteresis: 0.02, MinDelay: 10_000, MaxDelay: 110_000,
		Duration: 300 * second, Settings: mpa.DefaultSettings(), Seed: 1,
	}
}

// Validate reports everything that is wrong with a configuration.
func (c *Config) Validate() (problems []error) {
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	wrong(c.Nodes < 1 || c.Nodes > MaxNodes, "%d nodes: 1 to %d are expected", c.Nodes, MaxNodes)
	wrong(c.Contracts < 0 || c.Contracts > MaxContracts, "%d contracts: 0 to %d are expected", c.Contracts, MaxContracts)
	wrong((c.Graph == Random || c.Graph == Regular || c.Graph == ScaleFree || c.Graph == Ring) && c.Contracts >= c.Nodes && c.Nodes > 1,
		"%d contracts each among %d nodes: at most %d are possible", c.Contracts, c.Nodes, c.Nodes-1)
	wrong(!(c.Load > 0 && c.Load <= 10), "load %g: above 0 and up to 10 times the capacity is expected", c.Load)
	wrong(!(c.Full > 0 && c.Full < 100), "full at load %g: a number above 0 is expected", c.Full)
	wrong(!(c.TaskMin > 0) || c.TaskMin > c.TaskMax || !(c.TaskMax <= 10), "task sizes %g to %g: above 0, the smallest first, up to 10 is expected", c.TaskMin, c.TaskMax)
	wrong(!share(c.Range), "price range %g: a share from 0 to 1 is expected", c.Range)
	wrong(!(c.Moving >= 0 && c.Moving < 1), "cost of a move %g: a share of the price from 0, below 1 is expected", c.Moving)
	wrong(!(c.Margin >= 0 && c.Margin < 1), "margin %g: a share of the price from 0, below 1 is expected", c.Margin)
	wrong(!(c.Hysteresis >= 0) || math.IsInf(c.Hysteresis, 0), "load hysteresis %g: a number from 0 is expected", c.Hysteresis)
	wrong(!(c.Loss >= 0 && c.Loss < 1), "loss %g: a share from 0, below 1 is expected", c.Loss)
	wrong(c.MinDelay < 0 || c.MaxDelay < c.MinDelay, "delay %d to %d µs: from 0, the shortest first, is expected", c.MinDelay, c.MaxDelay)
	wrong(c.Migration < 0 || c.Migration >= c.Settings.MigrationTimeout, "a migration of %d µs: from 0, below the %d µs after which it is given up, is expected", c.Migration, c.Settings.MigrationTimeout)
	wrong(c.Duration <= 0 || c.Duration > maxDuration, "a run of %g s: above 0 and up to 30 days is expected", float64(c.Duration)/second)
	wrong(c.Loads == Skewed && !(c.Skew > 0 && c.Skew <= 10), "skew %g: above 0 and up to 10 is expected", c.Skew)
	wrong(c.Loads == Given && len(c.Shares) != c.Nodes, "%d loads for %d nodes", len(c.Shares), c.Nodes)
	wrong(c.Loads == Given && len(c.Shares) == c.Nodes && !slices.ContainsFunc(c.Shares, func(v float64) bool { return v > 0 }), "every load is 0: one above it is expected")
	tasks := c.Load * c.Full * float64(c.Nodes) / math.Max(c.TaskMin, 1e-12)
	wrong(tasks > maxTasks, "about %.3g tasks: at most %d are possible; choose fewer nodes or larger tasks", tasks, maxTasks)
	if cost, err := c.Cost.function(); err != nil {
		problems = append(problems, err)
	} else if price := cost.Slope(c.Full); c.Full > 0 && !(price <= float64(contracts.MaxPrice)) {
		problems = append(problems, fmt.Errorf("a unit of load costs %.4g at load %g, above the highest price: choose a lower load at which a node is full", price/contracts.Micro, c.Full))
	}
	if c.Graph == File && len(problems) == 0 {
		if _, err := c.given(newGraphBuilder(c.Nodes)); err != nil {
			problems = append(problems, err)
		}
	}
	return append(problems, c.Vary.validate()...)
}
