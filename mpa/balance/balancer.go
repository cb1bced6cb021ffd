package balance

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Balancer decides for the nodes of one organisation. It is not safe for concurrent use.
type Balancer struct {
	cfg    Config
	nodes  []*node // by id
	byNode map[NodeID]*node
	units  []*unit // by id
	byUnit map[UnitID]*unit
	period int
	paused bool
}

// New returns a balancer without nodes and units.
func New(cfg Config) (*Balancer, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	return &Balancer{cfg: cfg, byNode: make(map[NodeID]*node), byUnit: make(map[UnitID]*unit)}, nil
}

func newNode(n Node) *node {
	made := &node{Node: n, size: 1, provides: make(map[Capability]bool, len(n.Provides))}
	for _, c := range n.Provides {
		made.provides[c] = true
	}
	return made
}

// Join adds a node, or changes what is declared of one. Until its first report it is never a target.
func (b *Balancer) Join(n Node) error {
	if err := n.validate(); err != nil {
		return err
	}
	made := newNode(n)
	if old, ok := b.byNode[n.ID]; ok {
		made.known, made.units, made.hot = old.known, old.units, old.hot
		*old = *made
		old.sum()
	} else {
		at, _ := slices.BinarySearchFunc(b.nodes, made, func(x, y *node) int { return strings.Compare(string(x.ID), string(y.ID)) })
		b.nodes = slices.Insert(b.nodes, at, made)
		b.byNode[n.ID] = made
	}
	b.sizes()
	return nil
}

// sizes compares the capacities of all nodes, resource by resource, those without bound left out.
func (b *Balancer) sizes() {
	var mean Load
	var count [resources]float64
	for _, n := range b.nodes {
		for r, c := range n.Capacity {
			if !math.IsInf(c, 1) {
				mean[r] += c
				count[r]++
			}
		}
	}
	for _, n := range b.nodes {
		sum, of := 0.0, 0.0
		for r, c := range n.Capacity {
			if !math.IsInf(c, 1) {
				sum += c * count[r] / mean[r]
				of++
			}
		}
		n.size = 1
		if of > 0 {
			n.size = sum / of
		}
	}
}

// Adopt takes a unit that runs somewhere already.
func (b *Balancer) Adopt(u Unit, on NodeID) error {
	n, ok := b.byNode[on]
	if !ok {
		return fmt.Errorf("unit %s: there is no node %s", u.ID, on)
	}
	made, err := b.newUnit(u)
	if err != nil {
		return err
	}
	n.attach(made)
	return nil
}

func (b *Balancer) newUnit(u Unit) (*unit, error) {
	if err := u.validate(); err != nil {
		return nil, err
	}
	if b.byUnit[u.ID] != nil {
		return nil, fmt.Errorf("unit %s: there is one of this name", u.ID)
	}
	return b.insert(u), nil
}

func (b *Balancer) insert(u Unit) *unit {
	made := &unit{Unit: u, smoothed: u.Expected, raw: u.Expected}
	at, _ := slices.BinarySearchFunc(b.units, made, compareUnits)
	b.units = slices.Insert(b.units, at, made)
	b.byUnit[u.ID] = made
	return made
}

// Withdraw forgets a unit whose query has ended; one that there is not is no error.
func (b *Balancer) Withdraw(id UnitID) {
	u, ok := b.byUnit[id]
	if !ok {
		return
	}
	if u.on != nil {
		u.on.detach(u)
	}
	delete(b.byUnit, id)
	if at, ok := slices.BinarySearchFunc(b.units, u, compareUnits); ok {
		b.units = slices.Delete(b.units, at, at+1)
	}
}

// Reading is what a node measured of a unit over a period.
type Reading struct {
	Unit UnitID
	Load Load
	// Parts are the figures of its operators, in order; empty if they are not known.
	Parts []Throughput
}

// Report takes a node's readings of a period, and makes the node known. Units that are not known are left out: their query
// may just have ended. A unit may be reported by another node than the one it is to be on, while it moves. On an error
// nothing has changed.
func (b *Balancer) Report(from NodeID, readings []Reading) error {
	n, ok := b.byNode[from]
	if !ok {
		return fmt.Errorf("report of node %s: there is no such node", from)
	}
	if err := b.checkReadings(readings); err != nil {
		return fmt.Errorf("report of node %s: %w", from, err)
	}
	n.known = true
	for i := range readings {
		r := &readings[i]
		u, ok := b.byUnit[r.Unit]
		if !ok {
			continue
		}
		u.measure(r.Load, b.cfg.History)
		if len(r.Parts) > 0 {
			u.parts = slices.Clone(r.Parts)
		}
		u.above++
		if times, _ := b.cfg.Separate.over(&u.raw); times <= 1 {
			u.above = 0
		}
		if u.on != nil && u.on != n {
			u.on.sum()
		}
	}
	n.sum()
	n.hot++
	if !atLeast(b.rawUsage(n, &n.raw), b.cfg.Limit) {
		n.hot = 0
	}
	return nil
}

func (b *Balancer) checkReadings(readings []Reading) error {
	var problems []error
	seen := make(map[UnitID]bool, len(readings))
	for i := range readings {
		r := &readings[i]
		what := fmt.Sprintf("unit %s", r.Unit)
		problems = append(problems, r.Load.validate(what)...)
		if seen[r.Unit] {
			problems = append(problems, fmt.Errorf("%s: it is there twice", what))
		}
		seen[r.Unit] = true
		if u := b.byUnit[r.Unit]; u != nil && len(r.Parts) > 0 && len(r.Parts) != len(u.Parts) {
			problems = append(problems, fmt.Errorf("%s: figures of %d operators, and it has %d", what, len(r.Parts), len(u.Parts)))
		}
		for _, p := range r.Parts {
			if !(p.Messages >= 0 && p.Messages <= maxFigure) || !(p.Bytes >= 0 && p.Bytes <= maxFigure) {
				problems = append(problems, fmt.Errorf("%s: an operator of %g messages and %g bytes per second: finite numbers from 0 are expected", what, p.Messages, p.Bytes))
			}
		}
	}
	return errors.Join(problems...)
}

// Unreachable says that a node is not heard of. It does not count and is no target until its next report; its units stay,
// for it may still run them. Fail says that it is dead.
func (b *Balancer) Unreachable(id NodeID) error {
	n, ok := b.byNode[id]
	if !ok {
		return fmt.Errorf("there is no node %s", id)
	}
	n.known, n.hot = false, 0
	return nil
}

// Pause stops moves and separations, or lets them go on. Units are placed all the same.
func (b *Balancer) Pause(on bool) { b.paused = on }

// NodeStatus is what is known of a node.
type NodeStatus struct {
	ID NodeID
	// Known: it counts and may be a target.
	Known bool
	// Usage is smoothed, RawUsage as last read, both in percent and with what has been decided; Rate is in messages per second.
	Usage, RawUsage, Rate float64
	Units                 []UnitID
}

// Status returns what is known of each node, in order of name.
func (b *Balancer) Status() []NodeStatus {
	list := make([]NodeStatus, len(b.nodes))
	for i, n := range b.nodes {
		list[i] = NodeStatus{ID: n.ID, Known: n.known, Usage: b.usage(n), RawUsage: b.rawUsage(n, &n.raw), Rate: n.raw[Messages]}
		for _, u := range n.units {
			list[i].Units = append(list[i].Units, u.ID)
		}
	}
	return list
}

// usage is a node's smoothed usage.
func (b *Balancer) usage(n *node) float64 { return usage(&n.smoothed, &n.Capacity, &b.cfg.Weights) }

// rawUsage is the highest of a node's resources in percent, each counted alike.
func (b *Balancer) rawUsage(n *node, l *Load) float64 {
	w := evenly()
	return usage(l, &n.Capacity, &w)
}
