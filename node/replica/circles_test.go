package replica

import (
	"cmp"
	"testing"

	"fednode/query/tuple"
)

// circlePlaces are where a replica may stand at an input, circleOldest where a producer may begin: it holds all behind that in its
// generation. Each replica reaches up to two of an input.
var (
	circlePlaces = []tuple.Position{{Generation: 1, ID: 1, Time: 1}, {Generation: 1, ID: 2, Time: 2}, {Generation: 2, ID: 1, Time: 1}, {Generation: 2, ID: 2, Time: 2}}
	circleOldest = []tuple.Position{{Generation: 1, ID: 1}, {Generation: 1, ID: 2}, {Generation: 1, ID: 3}, {Generation: 2, ID: 1}, {Generation: 2, ID: 2}, {Generation: 2, ID: 3}}
)

// circleViews are all that a replica may reach of an input.
func circleViews() [][]tuple.Position {
	views := [][]tuple.Position{nil}
	for n, a := range circleOldest {
		views = append(views, []tuple.Position{a})
		for _, b := range circleOldest[n+1:] {
			views = append(views, []tuple.Position{a, b})
		}
	}
	return views
}

// holds reports whether one of some producers holds what comes behind a place.
func holds(view []tuple.Position, at tuple.Position) bool {
	for _, oldest := range view {
		if at.Generation == oldest.Generation && at.ID >= oldest.ID {
			return true
		}
	}
	return false
}

// takesState reports whether a replica that stands here takes the state of one that stands there. first: among equals the other
// one comes first.
func takesState(views [2][]tuple.Position, here, there [2]tuple.Position, first bool) bool {
	var list []offered
	for n := range views {
		list = append(list, offered{here: here[n], there: there[n], lost: len(views[n]) > 0 && !holds(views[n], here[n]), continues: holds(views[n], there[n])})
	}
	complete := cmp.Compare(min(there[0].Time, there[1].Time), min(here[0].Time, here[1].Time))
	_, further := reachesFurther(list, complete > 0 || complete == 0 && first)
	return further
}

// TestStatesAreNeverExchangedForEver shows of all places of two replicas that read two inputs, and all that each of them may reach,
// that they never exchange their states and then want to exchange them back.
func TestStatesAreNeverExchangedForEver(t *testing.T) {
	views := circleViews()
	forEver := func(a, b [2]tuple.Position, first bool) bool {
		for _, x := range views {
			for _, y := range views {
				v := [2][]tuple.Position{x, y}
				if takesState(v, a, b, first) && takesState(v, b, a, first) {
					return true
				}
			}
		}
		return false
	}
	pairs, one := 0, 0
	for k := range 256 {
		a := [2]tuple.Position{circlePlaces[k%4], circlePlaces[k/4%4]}
		b := [2]tuple.Position{circlePlaces[k/16%4], circlePlaces[k/64]}
		pairs++
		first, second := forEver(a, b, false), forEver(b, a, true)
		if first || second {
			one++
		}
		if first && second {
			t.Errorf("one at %v, one at %v", a, b)
		}
	}
	if one == 0 {
		t.Fatalf("of %d pairs no replica would go between two states: what is searched is too little", pairs)
	}
}
