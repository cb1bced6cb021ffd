package balance

import (
	"cmp"
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Reservoir draws m of any number of items without putting them back, each with a chance in proportion to its weight, in
// one pass and with memory for the m alone (A-Res).
//
// The published key of an item is u^(1/w), with u uniform in (0,1), and the largest keys are drawn. ln(u)/w is in the same
// order and does not run to 0 for small weights.
type Reservoir struct {
	m      int
	random *rand.Rand
	drawn  lowestFirst
}

type drawn struct {
	item int
	key  float64
}

// NewReservoir returns one that draws m items, 1 at least.
func NewReservoir(m int, random *rand.Rand) *Reservoir {
	return &Reservoir{m: max(m, 1), random: random}
}

// Offer lets an item take part. One of weight 0 is never drawn; others are finite and above 0.
func (r *Reservoir) Offer(item int, weight float64) error {
	switch {
	case !(weight >= 0 && weight <= maxFigure):
		return fmt.Errorf("weight %g: a finite number from 0 is expected", weight)
	case weight == 0:
		return nil
	}
	d := drawn{item, math.Log(r.uniform()) / weight}
	switch {
	case len(r.drawn) < r.m:
		heap.Push(&r.drawn, d)
	case d.key > r.drawn[0].key:
		r.drawn[0] = d
		heap.Fix(&r.drawn, 0)
	}
	return nil
}

// uniform draws from the open interval: the logarithm of 0 would never be chosen.
func (r *Reservoir) uniform() float64 {
	for {
		if u := r.random.Float64(); u > 0 {
			return u
		}
	}
}

// Items lists what has been drawn, the largest key first; fewer than m if fewer were offered.
func (r *Reservoir) Items() []int {
	all := slices.Clone(r.drawn)
	slices.SortFunc(all, func(a, b drawn) int { return cmp.Or(cmp.Compare(b.key, a.key), cmp.Compare(a.item, b.item)) })
	items := make([]int, len(all))
	for i, d := range all {
		items[i] = d.item
	}
	return items
}

// lowestFirst is a heap by key.
type lowestFirst []drawn

func (h lowestFirst) Len() int           { return len(h) }
func (h lowestFirst) Less(i, j int) bool { return h[i].key < h[j].key }
func (h lowestFirst) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push adds an item; for package heap.
func (h *lowestFirst) Push(x any) { *h = append(*h, x.(drawn)) }

// Pop takes the last item away; for package heap.
func (h *lowestFirst) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
