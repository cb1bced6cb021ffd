package testnet

import (
	"slices"

	"fednode/testnet/relay"
)

// waysOf returns the states of the ways between nodes under faults.
func waysOf(active []*inForce, nodes int) map[relay.Way]relay.State {
	out := make(map[relay.Way]relay.State)
	for from := range nodes {
		for to := range nodes {
			var s relay.State
			for _, x := range active {
				x.bend(&s, from, to)
			}
			if s != (relay.State{}) && from != to {
				out[relay.Way{From: from, To: to}] = s
			}
		}
	}
	return out
}

// bend does to a way what the fault does to it.
func (x *inForce) bend(s *relay.State, from, to int) {
	if len(x.nodes) == 0 {
		return
	}
	a, b := slices.Contains(x.nodes[0], from), slices.Contains(x.nodes[0], to)
	hit := a != b // it crosses the border of the nodes
	if len(x.nodes) == 2 {
		c, d := slices.Contains(x.nodes[1], from), slices.Contains(x.nodes[1], to)
		hit = a && d
		if x.Kind != FaultOneway {
			hit = hit || b && c
		}
	}
	if !hit {
		return
	}
	switch x.Kind {
	case FaultPartition, FaultOneway:
		s.Cut = true
	case FaultDelay:
		s.Delay += x.Value
	case FaultLoss:
		s.Loss = 1 - (1-s.Loss)*(1-x.Share)
	}
}

// paused reports whether a node's live source has no rows under faults.
func paused(active []*inForce, node int) bool {
	return slices.ContainsFunc(active, func(x *inForce) bool { return x.Kind == FaultPause && x.covers([]int{node}) })
}

// hauntOf is what a node is told of its clock and its disk under faults.
func hauntOf(active []*inForce, node int) (h Haunt) {
	for _, x := range active {
		if !x.covers([]int{node}) {
			continue
		}
		switch x.Kind {
		case FaultClock:
			h.ClockOffset += x.Value.Microseconds()
		case FaultDiskFull:
			h.DiskFull = true
		}
	}
	return h
}
