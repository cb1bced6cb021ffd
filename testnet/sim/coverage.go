package sim

import (
	"fmt"

	"fednode/dcaa"
	"fednode/testnet/sim/fault"
)

// states is one more than the largest dcaa.State.
const states = int(dcaa.Ended) + 1

// Coverage counts what happened in one run or many.
type Coverage struct {
	// Transitions of paths of replicas, from and to.
	Transitions [states][states]uint64
	// Faults that began, by kind.
	Faults [fault.Kinds]uint64
	// What the client was told.
	Undos, Dones, Trims, Gaps uint64
	// Transfers are how often a replica asked another for its state because no producer reached back far enough.
	Transfers uint64
	// Parts are how often a part of another's state was taken over, and the rest kept.
	Parts uint64
	// Renewals are how often a fork began anew at a stable instance that had moved.
	Renewals uint64
	// UndoRedos are how often a replica whose query says redo = "undo" began to redo.
	UndoRedos uint64
}

// Add adds what another run covered.
func (c *Coverage) Add(o *Coverage) {
	for i := range c.Transitions {
		for k := range c.Transitions[i] {
			c.Transitions[i][k] += o.Transitions[i][k]
		}
	}
	for i := range c.Faults {
		c.Faults[i] += o.Faults[i]
	}
	c.Undos += o.Undos
	c.Dones += o.Dones
	c.Trims += o.Trims
	c.Gaps += o.Gaps
	c.Transfers += o.Transfers
	c.Parts += o.Parts
	c.Renewals += o.Renewals
	c.UndoRedos += o.UndoRedos
}

// TransitionCounts returns how often each change of state was seen, as "FROM → TO".
func (c *Coverage) TransitionCounts() map[string]uint64 {
	m := make(map[string]uint64)
	for i := range c.Transitions {
		for k, n := range c.Transitions[i] {
			if n > 0 {
				m[fmt.Sprintf("%v → %v", dcaa.State(i), dcaa.State(k))] = n
			}
		}
	}
	return m
}

// FaultCounts returns how many faults of each kind began.
func (c *Coverage) FaultCounts() map[string]uint64 {
	m := make(map[string]uint64)
	for k, n := range c.Faults {
		m[fault.Kind(k).String()] = n
	}
	return m
}

// transition is one change of state.
type transition struct{ from, to dcaa.State }

// declared are the transitions that many runs must show.
func declared() []transition {
	return []transition{
		{dcaa.Starting, dcaa.Stable},
		{dcaa.Starting, dcaa.Stabilization},
		{dcaa.Stable, dcaa.UpstreamFailure},
		{dcaa.UpstreamFailure, dcaa.Stabilization},
		{dcaa.Stabilization, dcaa.UpstreamFailure},
		{dcaa.Stabilization, dcaa.Stable},
	}
}

// Missing lists what many runs should have shown and did not: transitions, kinds of faults, and effects at the client.
func (c *Coverage) Missing() []string {
	var list []string
	for _, t := range declared() {
		if c.Transitions[t.from][t.to] == 0 {
			list = append(list, fmt.Sprintf("transition %v to %v", t.from, t.to))
		}
	}
	for k := range c.Faults {
		if c.Faults[k] == 0 {
			list = append(list, fmt.Sprintf("fault %v", fault.Kind(k)))
		}
	}
	for _, e := range []struct {
		name string
		n    uint64
	}{{"REC_DONE", c.Dones}, {"another replica carrying on", c.Trims}, {"undo before a redo", c.UndoRedos}, {"a fork that begins anew", c.Renewals}} {
		if e.n == 0 {
			list = append(list, e.name)
		}
	}
	return list
}

// Undeclared lists transitions that were seen and are not among those that are expected.
func (c *Coverage) Undeclared() []string {
	known := [states][states]bool{}
	for _, t := range declared() {
		known[t.from][t.to] = true
	}
	var list []string
	for i := range c.Transitions {
		for k, n := range c.Transitions[i] {
			if n > 0 && !known[i][k] {
				list = append(list, fmt.Sprintf("%v to %v: %d times", dcaa.State(i), dcaa.State(k), n))
			}
		}
	}
	return list
}
