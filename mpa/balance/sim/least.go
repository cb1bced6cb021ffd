package sim

import (
	"math"
	"slices"

	"fednode/mpa/balance"
)

// LeastMoves is the least number of moves after which a migrator has nothing to do, for nodes of one capacity and units of
// one size, and whether there is any such number. loads are in units.
//
// It takes a unit from the most loaded node to the least loaded, again and again. After k such moves the loads are as even
// as any k moves can make them (every other result majorises this one), and the conditions of all migrators hold sooner the
// more even loads are; so the first k for which they hold is the least.
func LeastMoves(loads []int, unit float64, cfg *balance.Config) (moves int, ok bool) {
	loads = slices.Clone(loads)
	slices.Sort(loads)
	for ; ; moves++ {
		if restful(loads, unit, cfg) {
			return moves, true
		}
		last := len(loads) - 1
		if len(loads) == 0 || loads[last]-loads[0] < 2 {
			return moves, false // as even as they get
		}
		shift(loads)
	}
}

// shift takes one from the largest and gives it to the smallest of sorted loads, and leaves them sorted.
func shift(loads []int) {
	high, low := loads[len(loads)-1], loads[0]
	first, _ := slices.BinarySearch(loads, high)
	loads[first]--
	after, _ := slices.BinarySearch(loads, low+1)
	loads[after-1]++
}

// restful reports whether a migrator has nothing to do; loads are sorted.
func restful(loads []int, unit float64, cfg *balance.Config) bool {
	if len(loads) == 0 {
		return true
	}
	low, high := unit*float64(loads[0]), unit*float64(loads[len(loads)-1])
	sum, squares := 0.0, 0.0
	for _, v := range loads {
		sum += unit * float64(v)
	}
	mean := sum / float64(len(loads))
	for _, v := range loads {
		squares += (unit*float64(v) - mean) * (unit*float64(v) - mean)
	}
	const slack = 1e-6
	switch cfg.Migrator {
	case balance.Threshold:
		return high <= mean+cfg.Threshold+slack
	case balance.Overload:
		return high < cfg.Limit-slack
	case balance.Uniform:
		return 100*(high-low)/math.Max(low, cfg.Floor) <= cfg.Difference+slack
	}
	return math.Sqrt(squares/float64(len(loads))) <= cfg.Target+slack && low >= mean*math.Min(0.5, cfg.Target/2)-slack &&
		(high <= cfg.Limit+slack || high <= mean+cfg.Target+slack)
}
