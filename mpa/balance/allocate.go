package balance

import (
	"cmp"
	"fmt"
	"slices"
)

// Allocate places a new unit. If no node can run it now it waits, and is tried again in each round.
func (b *Balancer) Allocate(u Unit) (Decision, error) {
	made, err := b.newUnit(u)
	if err != nil {
		return Decision{}, err
	}
	return b.place(made, Places, ""), nil
}

// place chooses a node for a unit that is on none. Its load counts there at once.
func (b *Balancer) place(u *unit, kind Kind, from NodeID) Decision {
	d := Decision{Period: b.period, Kind: kind, Unit: u.ID, From: from}
	able, counts := b.able(u)
	if len(able) == 0 {
		d.Kind, d.Why = Waits, "no node can run it: "+tally(counts)
		return d
	}
	best := b.preferred(u, able)
	n, how := b.choose(best)
	d.To, d.ToUsage = n.ID, b.usage(n)
	d.Why = fmt.Sprintf("%s of %d that come first among %d able", how, len(best), len(able))
	n.attach(u)
	if full := b.usage(n); full > 100 {
		d.Why += fmt.Sprintf("; it comes to %s %% there, which is above full", figure(full))
	}
	u.restsUntil = b.period + b.cfg.Settle
	return d
}

// able lists the nodes that can take a unit, and counts what keeps the others.
func (b *Balancer) able(u *unit) (list []*node, counts [obstacles]int) {
	for _, n := range b.nodes {
		o := obstacleTo(n, u)
		if o == free && b.cfg.Policy == WeightedRandom && n.Weight == 0 {
			o = weightless
		}
		counts[o]++
		if o == free {
			list = append(list, n)
		}
	}
	return list, counts
}

// preferred narrows a choice: to nodes with most of the preferred labels, then to racks without a replica, then to those that
// have room for it. Where none has, all of them stay: late is better than not at all.
func (b *Balancer) preferred(u *unit, able []*node) []*node {
	crowded := b.crowded(u)
	first := preference(able[0], u, crowded)
	for _, n := range able {
		first = min(first, preference(n, u, crowded))
	}
	var best, roomy []*node
	for _, n := range able {
		if preference(n, u, crowded) != first {
			continue
		}
		best = append(best, n)
		with := n.smoothed
		with.add(u.smoothed)
		if usage(&with, &n.Capacity, &b.cfg.Weights) <= 100 {
			roomy = append(roomy, n)
		}
	}
	if len(roomy) > 0 {
		return roomy
	}
	return best
}

// choose takes one of some nodes by the policy.
func (b *Balancer) choose(of []*node) (*node, string) {
	if b.cfg.Policy == LeastOccupied {
		n := slices.MinFunc(of, func(x, y *node) int {
			return cmp.Or(cmp.Compare(b.usage(x), b.usage(y)), cmp.Compare(len(x.units), len(y.units)), cmp.Compare(x.ID, y.ID))
		})
		return n, fmt.Sprintf("least occupied at %s", figure(b.usage(n)))
	}
	r := NewReservoir(1, b.cfg.Random)
	for i, n := range of {
		_ = r.Offer(i, n.Weight) // checked when the node joined
	}
	n := of[r.Items()[0]]
	return n, fmt.Sprintf("drawn by weight %s", figure(n.Weight))
}

// Fail takes a dead node out. Its units are placed elsewhere at once, the largest first; they go on from their checkpoints.
func (b *Balancer) Fail(id NodeID) ([]Decision, error) {
	n, ok := b.byNode[id]
	if !ok {
		return nil, fmt.Errorf("there is no node %s", id)
	}
	delete(b.byNode, id)
	b.nodes = slices.DeleteFunc(b.nodes, func(o *node) bool { return o == n })
	b.sizes()
	units := slices.Clone(n.units)
	slices.SortStableFunc(units, func(x, y *unit) int {
		return cmp.Compare(usage(&y.smoothed, &n.Capacity, &b.cfg.Weights), usage(&x.smoothed, &n.Capacity, &b.cfg.Weights))
	})
	for _, u := range units {
		u.on = nil
	}
	var list []Decision
	for _, u := range units {
		list = append(list, b.place(u, Replaces, id))
	}
	return list, nil
}

// placeWaiting tries again what no node could run.
func (b *Balancer) placeWaiting() (list []Decision) {
	for _, u := range b.units {
		if u.on == nil {
			list = append(list, b.place(u, Places, ""))
		}
	}
	return list
}
