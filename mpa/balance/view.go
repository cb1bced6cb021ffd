package balance

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// view is the nodes that count, as the migrator sees them at a moment.
type view struct {
	ascending              []*seen // the least loaded first
	average, min, max, std float64
}

// seen is a node with its figure: smoothed usage, raw usage or message rate, as the migrator goes by.
type seen struct {
	*node
	x float64
}

// figureOf is what the migrator goes by, of a node with some load. Message rates are in percent of scale, so that the cost of a
// move means the same for all migrators.
func (b *Balancer) figureOf(n *node, l *Load, scale float64) float64 {
	switch b.cfg.Migrator {
	case Overload:
		return b.rawUsage(n, l)
	case Uniform:
		return 100 * l[Messages] / scale
	}
	return usage(l, &n.Capacity, &b.cfg.Weights)
}

// loadOf is the load that the migrator goes by: that of a node or of a unit.
func (b *Balancer) loadOf(smoothed, raw *Load) *Load {
	if b.cfg.Migrator == Overload || b.cfg.Migrator == Uniform {
		return raw
	}
	return smoothed
}

// scale is what message rates are in percent of: their mean, or the floor if that is higher.
func (b *Balancer) scale() float64 {
	sum, count := 0.0, 0.0
	for _, n := range b.nodes {
		if n.known {
			sum += n.raw[Messages]
			count++
		}
	}
	return max(b.cfg.Floor, sum/max(count, 1))
}

// said is what a figure is times to be said: people read message rates in messages per second.
func (b *Balancer) said(scale float64) float64 {
	if b.cfg.Migrator == Uniform {
		return scale / 100
	}
	return 1
}

// sizeOf is how much a node's squares count. Message rates are not in proportion to capacity, so each node counts alike.
func (b *Balancer) sizeOf(n *node) float64 {
	if b.cfg.Migrator == Uniform {
		return 1
	}
	return n.size
}

func (b *Balancer) look(scale float64) *view {
	v := &view{min: math.Inf(1)}
	for _, n := range b.nodes {
		if n.known {
			v.ascending = append(v.ascending, &seen{n, b.figureOf(n, b.loadOf(&n.smoothed, &n.raw), scale)})
		}
	}
	if len(v.ascending) == 0 {
		return v
	}
	slices.SortStableFunc(v.ascending, func(p, q *seen) int { return cmp.Compare(p.x, q.x) })
	v.min, v.max = v.ascending[0].x, v.ascending[len(v.ascending)-1].x
	for _, s := range v.ascending {
		v.average += s.x
	}
	v.average /= float64(len(v.ascending))
	for _, s := range v.ascending {
		v.std += (s.x - v.average) * (s.x - v.average)
	}
	v.std = math.Sqrt(v.std / float64(len(v.ascending)))
	return v
}

// rounding is the share up to which figures that sums came to are taken for equal.
const rounding = 1e-9

func above(v, limit float64) bool   { return v > limit+rounding*max(1, math.Abs(limit)) }
func atLeast(v, limit float64) bool { return v >= limit-rounding*max(1, math.Abs(limit)) }

// trigger is what makes units move at a moment: who gives, who may take, and why.
type trigger struct {
	gives func(*seen) bool
	takes func(*seen) bool // nil: all
	why   func(*seen) string
}

// trigger returns what the migrator finds to do, nil if it is at rest.
func (b *Balancer) trigger(v *view, scale float64) *trigger {
	if len(v.ascending) == 0 {
		return nil
	}
	switch b.cfg.Migrator {
	case Threshold:
		return b.threshold(v)
	case Overload:
		return b.overload(v)
	case Uniform:
		return b.uniform(v, scale)
	}
	return b.transfer(v)
}

func (b *Balancer) threshold(v *view) *trigger {
	limit := v.average + b.cfg.Threshold
	if !above(v.max, limit) {
		return nil
	}
	return &trigger{
		gives: func(s *seen) bool { return above(s.x, limit) },
		why: func(s *seen) string {
			return fmt.Sprintf("usage is above the average %s + threshold %s", figure(v.average), figure(b.cfg.Threshold))
		},
	}
}

func (b *Balancer) overload(v *view) *trigger {
	gives := func(s *seen) bool { return s.hot >= b.cfg.Readings && atLeast(s.x, b.cfg.Limit) }
	if !slices.ContainsFunc(v.ascending, gives) {
		return nil
	}
	return &trigger{gives: gives, why: func(s *seen) string {
		return fmt.Sprintf("%s at the limit %s for %d readings", b.hottest(s.node), figure(b.cfg.Limit), s.hot)
	}}
}

// hottest is the resource of which a node uses most of what it has.
func (b *Balancer) hottest(n *node) Signal {
	most := CPU
	for r := range n.Capacity {
		if n.raw[r]/n.Capacity[r] > n.raw[most]/n.Capacity[most] {
			most = Signal(r)
		}
	}
	return most
}

func (b *Balancer) uniform(v *view, scale float64) *trigger {
	least := max(v.min, 100*b.cfg.Floor/scale)
	differs := func(x float64) float64 { return 100 * (x - v.min) / least }
	if !above(differs(v.max), b.cfg.Difference) {
		return nil
	}
	return &trigger{
		gives: func(s *seen) bool { return above(differs(s.x), b.cfg.Difference) },
		why: func(s *seen) string {
			return fmt.Sprintf("message rate is %s %% above the lowest, more than %s %%", figure(differs(s.x)), figure(b.cfg.Difference))
		},
	}
}

func (b *Balancer) transfer(v *view) *trigger {
	target := b.cfg.Target
	if above(v.std, target) {
		return &trigger{
			gives: func(s *seen) bool { return above(s.x, v.average) },
			why: func(*seen) string {
				return fmt.Sprintf("standard deviation %s is above the target %s", figure(v.std), figure(target))
			},
		}
	}
	over := func(s *seen) bool { return above(s.x, b.cfg.Limit) && above(s.x, v.average+target) }
	if slices.ContainsFunc(v.ascending, over) {
		return &trigger{gives: over, why: func(*seen) string {
			return fmt.Sprintf("overloaded: above %s and above the average %s + target %s", figure(b.cfg.Limit), figure(v.average), figure(target))
		}}
	}
	low := v.average * min(0.5, target/2)
	under := func(s *seen) bool { return above(low, s.x) }
	if !slices.ContainsFunc(v.ascending, under) {
		return nil
	}
	return &trigger{
		gives: func(s *seen) bool { return above(s.x, v.average) },
		takes: under,
		why: func(*seen) string {
			return fmt.Sprintf("the other is underloaded: below %s of the average %s", figure(min(0.5, target/2)), figure(v.average))
		},
	}
}
