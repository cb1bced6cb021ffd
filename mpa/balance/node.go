package balance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// NodeID names a node of the organisation.
type NodeID string

// Capability is something that a node can do and an operator may need, such as "kind:join" or "udf:geo".
type Capability string

// Labels are what an operator of the system calls nodes by, such as region = "asia"; those of a unit are what it asks for.
type Labels map[string]string

// in reports whether all of these labels are among others.
func (l Labels) in(have Labels) bool {
	for k, v := range l {
		if h, ok := have[k]; !ok || h != v {
			return false
		}
	}
	return true
}

// shared counts the labels that others have too.
func (l Labels) shared(have Labels) (n int) {
	for k, v := range l {
		if h, ok := have[k]; ok && h == v {
			n++
		}
	}
	return n
}

// Node is a node as its organisation declares it.
type Node struct {
	ID NodeID
	// Rack is what fails together with it; empty if it is not known.
	Rack     string
	Labels   Labels
	Provides []Capability
	Capacity Capacity
	// Weight is how often policy weighted-random chooses it, in proportion; 0 for never.
	Weight float64
}

func (n *Node) validate() error {
	problems := n.Capacity.validate(n.ID)
	if n.ID == "" {
		problems = append(problems, errors.New("a node needs a name"))
	}
	if !(n.Weight >= 0 && n.Weight <= maxFigure) {
		problems = append(problems, fmt.Errorf("node %s: weight %g: a finite number from 0 is expected", n.ID, n.Weight))
	}
	return errors.Join(problems...)
}

// node is a node and what is known of it.
type node struct {
	Node
	provides map[Capability]bool
	// known: it is reachable and has said what its units use. Others are never targets and do not count.
	known bool
	units []*unit // by id
	// smoothed and raw are the sums of its units.
	smoothed, raw Load
	// size is its capacity in those of a mean node.
	size float64
	// hot counts raw readings in a row with a resource at the limit.
	hot int
	// keptAt is the last round in which it was over the trigger and gave nothing, kept what hindered its units then.
	keptAt int
	kept   [hindrances]int
}

func (n *node) attach(u *unit) {
	at, _ := slices.BinarySearchFunc(n.units, u, compareUnits)
	n.units = slices.Insert(n.units, at, u)
	u.on = n
	n.sum()
}

func (n *node) detach(u *unit) {
	if at, ok := slices.BinarySearchFunc(n.units, u, compareUnits); ok {
		n.units = slices.Delete(n.units, at, at+1)
	}
	u.on = nil
	n.sum()
}

func compareUnits(a, b *unit) int { return strings.Compare(string(a.ID), string(b.ID)) }

// sum adds the units up anew, in one order: a running sum would depend on the way it came about.
func (n *node) sum() {
	n.smoothed, n.raw = Load{}, Load{}
	for _, u := range n.units {
		n.smoothed.add(u.smoothed)
		n.raw.add(u.raw)
	}
}
