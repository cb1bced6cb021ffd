package balance

import (
	"errors"
	"fmt"
	"math"
)

// Signal is something that is measured of a unit.
type Signal uint8

// Signals. The first four are the resources that a node has so much of.
const (
	CPU      Signal = iota // cores
	Memory                 // bytes
	In                     // bytes per second
	Out                    // bytes per second
	Messages               // messages per second
	signals
)

// resources is how many signals are resources.
const resources = int(Messages)

var signalNames = [signals]string{"cpu", "memory", "bandwidth in", "bandwidth out", "message rate"}

// String is the signal's name.
func (s Signal) String() string { return signalNames[s] }

// Load is what a unit uses of each signal; finite, from 0.
type Load [signals]float64

// maxFigure bounds figures, so that no sum of them is infinite.
const maxFigure = 1e100

func (l Load) validate(what string) (problems []error) {
	for s, v := range l {
		if !(v >= 0 && v <= maxFigure) {
			problems = append(problems, fmt.Errorf("%s: %s %g: a finite number from 0 is expected", what, Signal(s), v))
		}
	}
	return problems
}

func (l *Load) add(o Load) {
	for s := range l {
		l[s] += o[s]
	}
}

func (l *Load) subtract(o Load) {
	for s := range l {
		l[s] = max(0, l[s]-o[s]) // a remainder of rounding is no load
	}
}

func (l Load) times(f float64) Load {
	for s := range l {
		l[s] *= f
	}
	return l
}

// Capacity is how much of each resource a node has: above 0; +Inf where there is no bound.
type Capacity [resources]float64

func (c Capacity) validate(id NodeID) (problems []error) {
	for r, v := range c {
		if !(v > 0) || v > maxFigure && !math.IsInf(v, 1) {
			problems = append(problems, fmt.Errorf("node %s: capacity %g of %s: a number above 0 is expected, +Inf if there is no bound", id, v, Signal(r)))
		}
	}
	return problems
}

// Weights say how much each resource counts in usage; finite, from 0, one at least above 0.
type Weights [resources]float64

func (w Weights) validate() error {
	sum := 0.0
	for r, v := range w {
		if !(v >= 0 && v <= maxFigure) {
			return fmt.Errorf("weight %g of %s: a finite number from 0 is expected", v, Signal(r))
		}
		sum += v
	}
	if sum == 0 {
		return errors.New("all weights of resources are 0: nothing would count")
	}
	return nil
}

// usage is a load in percent of a capacity: the highest of the resources, each times its weight.
func usage(l *Load, c *Capacity, w *Weights) float64 {
	most := 0.0
	for r := range c {
		most = max(most, w[r]*100*l[r]/c[r])
	}
	return most
}

// evenly counts every resource alike.
func evenly() Weights { return Weights{1, 1, 1, 1} }
