package balance

import (
	"fmt"
	"strings"
)

// obstacle is why a node cannot take a unit.
type obstacle uint8

const (
	free obstacle = iota
	unknown
	lacking
	unlabelled
	replicated
	weightless
	obstacles
)

var obstacleNames = [obstacles]string{"", "not known or not reachable", "without what it needs", "without the labels it requires", "with a replica of it", "of weight 0"}

// obstacleTo says why a node cannot take a unit, free if it can.
func obstacleTo(n *node, u *unit) obstacle {
	switch {
	case !n.known:
		return unknown
	case !n.has(u.Needs):
		return lacking
	case !u.Required.in(n.Labels):
		return unlabelled
	case n.holds(u):
		return replicated
	}
	return free
}

func (n *node) has(needs []Capability) bool {
	for _, c := range needs {
		if !n.provides[c] {
			return false
		}
	}
	return true
}

// holds reports whether another replica of what the unit replicates is on the node.
func (n *node) holds(u *unit) bool {
	if u.Replicas == "" {
		return false
	}
	for _, o := range n.units {
		if o != u && o.replicates(&u.Unit) {
			return true
		}
	}
	return false
}

// crowded lists the racks that hold another replica of what a unit replicates.
func (b *Balancer) crowded(u *unit) map[string]bool {
	if u.Replicas == "" {
		return nil
	}
	racks := make(map[string]bool)
	for _, n := range b.nodes {
		if n.Rack != "" && n.holds(u) {
			racks[n.Rack] = true
		}
	}
	return racks
}

// preference is how far a node is from what a unit would like; the lowest comes first. Labels count before racks.
func preference(n *node, u *unit, crowded map[string]bool) int {
	p := 2 * (len(u.Preferred) - u.Preferred.shared(n.Labels))
	if crowded[n.Rack] {
		p++
	}
	return p
}

// tally says how many nodes have which obstacle.
func tally(counts [obstacles]int) string {
	var parts []string
	for o, n := range counts {
		if n > 0 && o != int(free) {
			parts = append(parts, fmt.Sprintf("%d %s", n, obstacleNames[o]))
		}
	}
	if len(parts) == 0 {
		return "there are no others"
	}
	return strings.Join(parts, ", ")
}
