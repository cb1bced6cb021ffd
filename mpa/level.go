package mpa

import "math"

// tolerance is how much two costs or prices have to differ, relative to the larger, to count as different.
const tolerance = 1e-9

// less reports whether a is below b by more than rounding.
func less(a, b float64) bool { return a < b-tolerance*max(math.Abs(a), math.Abs(b)) }

// Overloaded reports whether a participant that carries a load would gain by giving away a task of a size, its largest, at
// price plus the cost of moving it, both for one unit of load.
func Overloaded(c Cost, load, size, price, moving float64) bool {
	return less((price+moving)*size, Saving(c, load, size))
}

// HasRoom reports whether a participant that carries a load would gain by taking a task of a size at a price.
func HasRoom(c Cost, load, size, price float64) bool {
	return less(Marginal(c, load, size), price*size)
}

// OverloadLevel returns the load above which a participant is overloaded: where giving a task of the size away saves just
// price plus moving for each unit. It is +Inf if no load is that dear.
func OverloadLevel(c Cost, size, price, moving float64) float64 {
	return levelWhere(size, func(load float64) bool { return Saving(c, load, size) > (price+moving)*size })
}

// CapacityAt returns the load at which one more unit costs the price; +Inf if it never does.
func CapacityAt(c Cost, price float64) float64 {
	return levelWhere(0, func(load float64) bool { return c.Slope(load) > price })
}

// levelWhere returns the lowest load from low on at which above holds; above holds from there on.
func levelWhere(low float64, above func(load float64) bool) float64 {
	const far = 1e12
	high := math.Max(2*low, 1)
	for !above(high) {
		if high > far {
			return math.Inf(1)
		}
		low, high = high, 2*high
	}
	for range 200 {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			break
		}
		if above(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// RangeFor returns which share of the price a range has to span so that load is passed on over hops relays in a row, each
// full, with tasks of a size; price and moving are for one unit of load. It can be above 1: then no range does.
//
// Source: with the load T at which cost rises by the price, the last relay takes at T less (hops−1) tasks, so it saves
// D(T−(J−1)k) − D(T−Jk) by giving one on.
func RangeFor(c Cost, hops int, size, price, moving float64) float64 {
	full := CapacityAt(c, price)
	j := float64(hops)
	saves := c.At(math.Max(0, full-(j-1)*size)) - c.At(math.Max(0, full-j*size))
	return 1 - saves/(size*price) + j*moving/price
}
