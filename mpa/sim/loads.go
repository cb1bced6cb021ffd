package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Loads is a way in which load is spread over nodes.
type Loads uint8

// Ways in which load is spread.
const (
	Exponential Loads = iota
	Uniform
	// Skewed: the node of rank r has load in proportion to r^−skew; ranks are given at random.
	Skewed
	// Given: in proportion to given figures.
	Given
)

var loadNames = [...]string{"exponential", "uniform", "skewed", "file"}

// String returns the name.
func (l Loads) String() string { return loadNames[min(int(l), len(loadNames)-1)] }

// ParseLoads reads the name of a distribution.
func ParseLoads(name string) (Loads, error) {
	for l, n := range loadNames {
		if n == name {
			return Loads(l), nil
		}
	}
	return 0, fmt.Errorf("distribution %q: exponential, uniform, skewed or file is expected", name)
}

// shares draws the load of each node, in proportion.
func (c *Config) shares(random *rand.Rand) []float64 {
	list := make([]float64, c.Nodes)
	for i := range list {
		switch c.Loads {
		case Exponential:
			list[i] = random.ExpFloat64()
		case Uniform:
			list[i] = random.Float64()
		case Skewed:
			list[i] = math.Pow(float64(i+1), -c.Skew)
		case Given:
			list[i] = c.Shares[i]
		}
	}
	if c.Loads == Skewed {
		random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
	}
	return list
}

// tasks draws the loads of the tasks of each node, so that their total is the run's load.
func (c *Config) tasks(random *rand.Rand) [][]float64 {
	shares := c.shares(random)
	total := 0.0
	for _, s := range shares {
		total += s
	}
	all := make([][]float64, len(shares))
	for i, s := range shares {
		want := s / total * c.Load * c.Full * float64(c.Nodes)
		all[i] = c.split(want, random)
	}
	return all
}

// split cuts a load into tasks. What is left over, less than a task, becomes one if it is more than half of the next one.
func (c *Config) split(want float64, random *rand.Rand) (list []float64) {
	for want > 0 {
		size := c.TaskMin + (c.TaskMax-c.TaskMin)*random.Float64()
		if size > want && want <= size/2 {
			return list
		}
		list = append(list, size)
		want -= size
	}
	return list
}
