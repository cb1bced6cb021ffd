package balance

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Migrator is what makes units move; an organisation has one.
type Migrator uint8

// Migrators.
const (
	// Threshold: usage above the average by more than Config.Threshold, until none is.
	Threshold Migrator = iota
	// Overload: a resource at Config.Limit for Config.Readings raw readings, until it is below.
	Overload
	// Uniform: message rates that differ by more than Config.Difference, until they do not.
	Uniform
	// Transfer: a standard deviation of usage above Config.Target, or a node obviously under- or overloaded, until neither.
	Transfer
)

var migratorNames = []string{"threshold", "overload", "uniform", "transfer"}

// String is the migrator's name.
func (m Migrator) String() string { return migratorNames[m] }

// Migrators lists all of them.
func Migrators() []Migrator { return []Migrator{Threshold, Overload, Uniform, Transfer} }

// ParseMigrator returns the migrator of a name.
func ParseMigrator(name string) (Migrator, error) {
	if i := slices.Index(migratorNames, name); i >= 0 {
		return Migrator(i), nil
	}
	return 0, fmt.Errorf("migrator %q: one of %s is expected", name, strings.Join(migratorNames, ", "))
}

// Policy is how a node is chosen for a new unit.
type Policy uint8

// Policies.
const (
	LeastOccupied  Policy = iota // the node with the lowest usage
	WeightedRandom               // a random node, in proportion to Node.Weight
)

// Config fixes a balancer.
type Config struct {
	Migrator Migrator
	Policy   Policy
	// Threshold and Target are in percentage points, Limit in percent of capacity, Difference in percent of the lowest rate.
	Threshold, Limit, Difference, Target float64
	// Floor is the lowest message rate (messages per second) that rates are compared with: an empty node is not infinitely
	// different.
	Floor float64
	// History is how much the past counts in a smoothed figure, from 0, below 1.
	History float64
	Weights Weights
	// Gain is by how many points x_a − x_b − u has to be above 0 for a unit of u to move from a to b: the cost of a move.
	Gain float64
	// Settle is for how many periods a unit stays after it has moved or been placed.
	Settle int
	// Readings is how many raw readings in a row have to be at a limit before it counts.
	Readings int
	// Separate says when a unit is too large for one node.
	Separate Limits
	// Random draws the nodes of policy WeightedRandom.
	Random *rand.Rand
}

// Default returns the settings that are used unless the operator says otherwise; randomness is drawn from seed 1.
func Default() Config {
	return Config{
		Threshold: 10, Limit: 85, Difference: 85, Target: 25, Floor: 1, History: 0.9, Weights: evenly(),
		Gain: 2, Settle: 3, Readings: 3, Separate: NoLimits(), Random: rand.New(rand.NewPCG(1, 1)),
	}
}

// Validate reports everything that is wrong with a configuration.
func (c *Config) Validate() error {
	var problems []error
	within := func(what string, v, low, high float64) {
		if !(v >= low && v <= high) {
			problems = append(problems, fmt.Errorf("%s %g: from %g to %g is expected", what, v, low, high))
		}
	}
	if int(c.Migrator) >= len(migratorNames) || c.Policy > WeightedRandom {
		problems = append(problems, fmt.Errorf("migrator %d and policy %d: there is no such one", c.Migrator, c.Policy))
	}
	within("threshold", c.Threshold, 0, 1000)
	within("limit of overload", c.Limit, 1, 1000)
	within("difference of rates", c.Difference, 1, 1e6)
	within("target deviation", c.Target, 0.1, 1000)
	within("history", c.History, 0, 0.999)
	within("gain", c.Gain, 0.001, 1000)
	within("periods of rest", float64(c.Settle), 0, 1e6)
	within("readings", float64(c.Readings), 1, 1000)
	if !(c.Floor > 0 && c.Floor <= maxFigure) {
		problems = append(problems, fmt.Errorf("floor of rates %g: a finite number above 0 is expected", c.Floor))
	}
	if err := c.Weights.validate(); err != nil {
		problems = append(problems, err)
	}
	if c.Random == nil {
		problems = append(problems, errors.New("a source of randomness is missing"))
	}
	return errors.Join(append(problems, c.Separate.validate()...)...)
}
