package plan

import (
	"errors"
	"math"
)

// Schedule says when a checkpoint is taken and of which level.
type Schedule struct {
	// Interval is T: the time of processing from one checkpoint to the next, taking it included.
	Interval Seconds
	// Probabilities say how often each level is drawn; they sum to 1.
	Probabilities []float64
}

// sumTolerance is how far a sum of probabilities may be from 1: what a few decimals of a person leave.
const sumTolerance = 1e-6

// Check returns every mistake of the schedule for a system without mistakes, each a *ValueError, joined.
func (s *Schedule) Check(sys *System) error {
	return errors.Join(checkProbabilities(s.Probabilities, sys), s.checkInterval(sys))
}

// checkInterval demands that an interval holds each checkpoint that may end it.
func (s *Schedule) checkInterval(sys *System) error {
	if err := intervalRange(s.Interval); err != nil {
		return err
	}
	for i, p := range s.Probabilities {
		if i < len(sys.Levels) && p > 0 && sys.Levels[i].Cost > s.Interval {
			return &ValueError{Field: FieldInterval, Got: float64(s.Interval),
				Want: "no less than a checkpoint takes: one of level " + itoa(i+1) + " takes " + secondsText(float64(sys.Levels[i].Cost))}
		}
	}
	return nil
}

func intervalRange(t Seconds) error {
	if !finite(float64(t)) || t < MinInterval {
		return &ValueError{Field: FieldInterval, Got: float64(t), Want: "1 s or more, and finite"}
	}
	return nil
}

// checkProbabilities demands one for each level, of [0, 1], that sum to 1 and leave something for every level that fails.
func checkProbabilities(p []float64, sys *System) error {
	bad := func(level int, got float64, want string) error {
		return &ValueError{Field: FieldProbabilities, Level: level, Got: got, Want: want}
	}
	if len(p) != len(sys.Levels) {
		return bad(0, float64(len(p)), "one for each of the "+itoa(len(sys.Levels))+" levels")
	}
	var all []error
	sum := 0.0
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			all = append(all, bad(i+1, v, "0 to 1"))
		} else if v > 0 && sys.Levels[i].Cost == 0 {
			all = append(all, bad(i+1, v, "0: the level costs nothing and is always kept"))
		}
		sum += v
	}
	if len(all) > 0 {
		return errors.Join(all...)
	}
	if math.Abs(sum-1) > sumTolerance {
		return bad(0, sum, "a sum of 1")
	}
	above := 0.0
	for i := len(p) - 1; i >= 0; i-- {
		above += p[i]
		if above == 0 && sys.Levels[i].Rate > 0 && sys.Levels[i].Cost > 0 {
			return bad(i+1, 0, "something for this level or one above: its failures could go back to the beginning only")
		}
	}
	return nil
}
