package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// Variation is how loads change each round: those of all units that began at a node by one factor, and each reading by noise.
type Variation struct {
	// Walk is the standard deviation of a random walk's step, as a share of the load; it stays within half and one and a half of
	// it. 0 for none.
	Walk float64
	// Bursts: with chance Burst a round, the load becomes Factor times itself, for Length rounds on average. 0 for none.
	Burst, Factor, Length float64
	// Noise of each unit's load each round, as a share of it; its mean does not change.
	Noise float64
}

// Varies reports whether loads change at all.
func (v *Variation) Varies() bool { return v.Walk > 0 || v.Burst > 0 || v.Noise > 0 }

func (v *Variation) validate() error {
	var problems []error
	within := func(what string, value, low, high float64) {
		if !(value >= low && value <= high) {
			problems = append(problems, fmt.Errorf("%s %g: from %g to %g is expected", what, value, low, high))
		}
	}
	within("step of the walk", v.Walk, 0, 1)
	within("noise", v.Noise, 0, 1)
	within("chance of a burst", v.Burst, 0, 1)
	if v.Burst > 0 {
		within("factor of a burst", v.Factor, 0, 10)
		within("length of a burst", v.Length, 1, 1e6)
	}
	return errors.Join(problems...)
}

// variation is the present factors, by the node at which units began.
type variation struct {
	spec   Variation
	random *rand.Rand
	walk   []float64
	burst  []int // rounds left
}

func newVariation(spec Variation, nodes int, random *rand.Rand) *variation {
	v := &variation{spec: spec, random: random, walk: make([]float64, nodes), burst: make([]int, nodes)}
	for i := range v.walk {
		v.walk[i] = 1
	}
	return v
}

// advance moves all factors on by a round.
func (v *variation) advance() {
	for i := range v.walk {
		if v.spec.Walk > 0 {
			v.walk[i] = reflected(v.walk[i]+v.spec.Walk*v.random.NormFloat64(), 0.5, 1.5)
		}
		if v.burst[i] > 0 {
			v.burst[i]--
		} else if v.spec.Burst > 0 && v.random.Float64() < v.spec.Burst {
			v.burst[i] = int(math.Ceil(v.random.ExpFloat64() * v.spec.Length))
		}
	}
}

// factor is that of a unit now; it draws noise.
func (v *variation) factor(origin int) float64 {
	f := v.walk[origin]
	if v.burst[origin] > 0 {
		f *= v.spec.Factor
	}
	if v.spec.Noise > 0 {
		f *= max(0, 1+v.spec.Noise*v.random.NormFloat64())
	}
	return f
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
