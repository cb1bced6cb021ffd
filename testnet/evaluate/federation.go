package evaluate

import (
	"fmt"

	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// policies are what a query says of its failures and of the time in which they are corrected.
type policies struct{ failure, stabilization string }

func (p policies) String() string { return p.failure + " / " + p.stabilization }

// The pairs that the grid compares.
var (
	bothProcess  = policies{"process", "process"}
	processDelay = policies{"process", "delay"}
	delayProcess = policies{"delay", "process"}
	bothDelay    = policies{"delay", "delay"}
)

// Times and rates of the grid. Durations are microseconds.
const (
	begins = 10 * tuple.Second // of the first failure
	settle = 20 * tuple.Second // after the last one
	// rate is in rows a second of each stream; lowRate that of the long chains.
	rate    = 1500
	lowRate = 50
	bound   = 3 * tuple.Second
	// rowCost is what a row costs a node, once in and once out: 500,000 rows a second go through one.
	rowCost = 1
)

// federation is a chain of fragments behind three sources.
type federation struct {
	fragments, replicas int
	policies            policies
	rate                int64
	bound               int64
}

func (f federation) spec() topology.Spec {
	s := topology.Default()
	s.Fragments, s.Replicas, s.Rate, s.MaxDelay, s.RowCost = f.fragments, f.replicas, f.rate, f.bound, rowCost
	s.Failure, s.Stabilization = f.policies.failure, f.policies.stabilization
	s.Calm, s.Trouble, s.Settle = begins, 0, settle
	return s
}

// cell returns a cell in which nothing fails yet.
func (f federation) cell() *Cell {
	s := f.spec()
	return &Cell{Series: f.policies.String(), Bound: Micros(f.bound), spec: s, away: make([][]span, s.Sources)}
}

// at puts a cell on the axis.
func (c *Cell) at(x float64) *Cell {
	c.X = x
	return c
}

// cut cuts the links from a source to all replicas that read it. The source goes on, and its log keeps what it has.
func (c *Cell) cut(source int, during span) *Cell {
	for r := range c.spec.Replicas {
		c.fails(fault.Cut, topology.SourceName(source), fmt.Sprintf("f1.%d", r), during)
	}
	return c.without(source, during)
}

// off takes the connector of a source away from what it reads, which goes on to come to be.
func (c *Cell) off(source int, during span) *Cell {
	c.fails(fault.Disconnect, topology.SourceName(source), "", during)
	return c.without(source, during)
}

func (c *Cell) without(source int, during span) *Cell {
	c.away[source] = append(c.away[source], during)
	return c
}

// fails adds a failure.
func (c *Cell) fails(k fault.Kind, a, b string, during span) *Cell {
	c.faults = append(c.faults, fault.Fault{At: during.from, Kind: k, A: a, B: b, For: during.to - during.from})
	c.faults.Sort()
	return c
}

// first is the time of a failure of some length.
func first(length int64) span { return span{begins, begins + length} }
