package sim

import (
	"fmt"
	"math"
	"math/rand/v2"

	"fednode/mpa"
)

// Variation is how the loads of a run change: every second, the tasks of a node by one factor.
type Variation struct {
	Kind VariationKind
	// Step is the standard deviation of a random walk's step, as a share of the load; it stays within half and one and a half
	// of it.
	Step float64
	// Bursts: each node has on average Rate bursts an hour, of Factor times its load, for Length seconds on average.
	Rate, Factor, Length float64
	// Noise of every reading, in largest tasks a node: the mean does not change.
	Noise float64
	// Trace: factors of nodes from moments on, in order of time.
	Trace []Change
}

// VariationKind is a kind of variation.
type VariationKind uint8

// Kinds of variation.
const (
	Constant VariationKind = iota
	Walk
	Bursts
	Trace
)

// Change is a factor of a node's load from a moment on.
type Change struct {
	At     mpa.Instant
	Node   int
	Factor float64
}

func (v *Variation) validate() (problems []error) {
	positive := func(what string, value float64) {
		if !(value > 0) || math.IsInf(value, 0) {
			problems = append(problems, fmt.Errorf("%s %g: a finite number above 0 is expected", what, value))
		}
	}
	switch v.Kind {
	case Walk:
		positive("step of the walk", v.Step)
	case Bursts:
		positive("bursts an hour", v.Rate)
		positive("factor of a burst", v.Factor)
		positive("length of a burst", v.Length)
		if v.Factor > maxFactor || v.Length > maxDuration/second {
			problems = append(problems, fmt.Errorf("bursts of %g times the load for %g s: up to %g times, for up to 30 days, is expected", v.Factor, v.Length, float64(maxFactor)))
		}
	}
	if !(v.Noise >= 0 && v.Noise <= maxNoise) {
		problems = append(problems, fmt.Errorf("noise %g: from 0 to %d tasks is expected", v.Noise, maxNoise))
	}
	for i, c := range v.Trace {
		if !(c.Factor > 0 && c.Factor <= maxFactor) || c.At < 0 || i > 0 && c.At < v.Trace[i-1].At {
			problems = append(problems, fmt.Errorf("change %d of the trace: a time in order and a factor above 0 are expected", i+1))
		}
	}
	return problems
}

// Bounds of what a load may become: a factor of it, and noise in tasks.
const (
	maxFactor = 1_000_000
	maxNoise  = 1_000
)

// varies reports whether loads change at all.
func (v *Variation) varies() bool { return v.Kind != Constant || v.Noise > 0 }

// variation is the present factors of a run.
type variation struct {
	spec   Variation
	random *rand.Rand
	factor []float64
	until  []mpa.Instant // of a burst
	traced int
}

func newVariation(spec Variation, nodes int, random *rand.Rand) *variation {
	v := &variation{spec: spec, random: random, factor: make([]float64, nodes), until: make([]mpa.Instant, nodes)}
	for i := range v.factor {
		v.factor[i] = 1
	}
	return v
}

// advance moves the factors on by a second.
func (v *variation) advance(now mpa.Instant) {
	switch v.spec.Kind {
	case Walk:
		for i := range v.factor {
			f := v.factor[i] + v.spec.Step*v.random.NormFloat64()
			v.factor[i] = reflected(f, 0.5, 1.5)
		}
	case Bursts:
		for i := range v.factor {
			switch {
			case v.until[i] > now:
			case v.random.Float64() < v.spec.Rate/3600:
				v.factor[i] = v.spec.Factor
				v.until[i] = now.Add(int64(v.random.ExpFloat64() * v.spec.Length * second))
			default:
				v.factor[i] = 1
			}
		}
	case Trace:
		for ; v.traced < len(v.spec.Trace) && v.spec.Trace[v.traced].At <= now; v.traced++ {
			v.factor[v.spec.Trace[v.traced].Node] = v.spec.Trace[v.traced].Factor
		}
	}
}

// reflected brings a value back between two bounds, as a wall does.
func reflected(v, low, high float64) float64 {
	width := high - low
	v = math.Mod(v-low, 2*width)
	if v < 0 {
		v += 2 * width
	}
	if v > width {
		v = 2*width - v
	}
	return low + v
}
