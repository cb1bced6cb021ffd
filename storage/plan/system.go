package plan

import (
	"errors"
	"math"
)

// Seconds is a stretch of time.
type Seconds float64

// Rate is failures a second.
type Rate float64

// day is the length of a day in seconds.
const day = 86400

// PerDay returns the rate of so many failures a day.
func PerDay(n float64) Rate { return Rate(n / day) }

// Bounds of what is planned for. More is a mistake.
const (
	MaxLevels     = 16
	MaxPathLength = 1_000_000
	// MinInterval is the shortest interval: checkpoints are cut at the ends of buckets, and one at nearly each bucket would
	// cost more than it was measured to.
	MinInterval Seconds = 1
)

// Level is one level of checkpoints.
type Level struct {
	// Rate is how often a failure comes that needs a checkpoint of this level or above: 0 or more.
	Rate Rate
	// Cost is how long taking a checkpoint keeps from useful work: 0 or more. A level that costs nothing is the parked
	// instance: it is always there, loses no work, and is not drawn. Such levels come first.
	Cost Seconds
	// Restart is how long going on from one takes, from the failure: 0 or more.
	Restart Seconds
}

// System is what a schedule is planned for.
type System struct {
	// Levels are in order of what they survive, and so of what they cost; 1 to MaxLevels. A cost may not be less than that of
	// the level below: the lower level would have no use. Rates and restarts may be in any order.
	Levels []Level
	// PathLength is n, the operators on the longest path of a region that restarts as a whole; 0 means 1.
	PathLength int
	// HopDelay is how long a checkpoint takes from one operator of the path to the next: 0 or more.
	HopDelay Seconds
}

// lag returns how long after its first operator the last one has completed a checkpoint.
func (s *System) lag() float64 { return float64(max(s.PathLength, 1)-1) * float64(s.HopDelay) }

// Check returns every mistake of the system, each a *ValueError, joined; nil if there is none.
func (s *System) Check() error {
	var all []error
	bad := func(f Field, level int, got float64, want string) {
		all = append(all, &ValueError{Field: f, Level: level, Got: got, Want: want})
	}
	if n := len(s.Levels); n == 0 || n > MaxLevels {
		bad(FieldLevels, 0, float64(n), "1 to 16 levels")
	}
	for i, l := range s.Levels {
		for _, v := range []struct {
			field Field
			value float64
		}{{FieldRate, float64(l.Rate)}, {FieldCost, float64(l.Cost)}, {FieldRestart, float64(l.Restart)}} {
			if !finite(v.value) || v.value < 0 {
				bad(v.field, i+1, v.value, "0 or more, and finite")
			}
		}
		if i > 0 && l.Cost < s.Levels[i-1].Cost {
			bad(FieldCost, i+1, float64(l.Cost), "levels in order, what costs least and survives least first: no less than the "+secondsText(float64(s.Levels[i-1].Cost))+" of the level before")
		}
	}
	if s.PathLength < 0 || s.PathLength > MaxPathLength {
		bad(FieldPathLength, 0, float64(s.PathLength), "1 to 1,000,000 operators")
	}
	if !finite(float64(s.HopDelay)) || s.HopDelay < 0 {
		bad(FieldHopDelay, 0, float64(s.HopDelay), "0 or more, and finite")
	}
	return errors.Join(all...)
}

// Unusual says in words what of a checked system is allowed but seldom meant; nil if there is nothing.
func (s *System) Unusual() []string {
	var notes []string
	for i := 1; i < len(s.Levels); i++ {
		if a, b := s.Levels[i-1], s.Levels[i]; b.Rate > a.Rate {
			notes = append(notes, "level "+itoa(i+1)+" fails more often than level "+itoa(i)+": the failures of a level are those that need it and nothing above; the order of the levels was kept")
		}
	}
	return notes
}

// finite reports whether v is a number, neither NaN nor infinite.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
