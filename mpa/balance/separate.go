package balance

import (
	"errors"
	"fmt"
	"math"
)

// Throughput is what passes through an operator.
type Throughput struct {
	Messages float64 // messages per second
	Bytes    float64 // bytes per second
}

// Limits say when a unit is too large for one node; +Inf for no limit.
type Limits struct {
	MaxMessageRate float64 // messages per second
	MaxBandwidth   float64 // bytes per second, in and out together
}

// NoLimits separates nothing.
func NoLimits() Limits { return Limits{math.Inf(1), math.Inf(1)} }

func (l Limits) validate() (problems []error) {
	if !(l.MaxMessageRate > 0) {
		problems = append(problems, fmt.Errorf("max_message_rate %g: a number above 0 is expected", l.MaxMessageRate))
	}
	if !(l.MaxBandwidth > 0) {
		problems = append(problems, fmt.Errorf("max_bandwidth %g: a number above 0 is expected", l.MaxBandwidth))
	}
	return problems
}

// over is how many times the larger of its limits a load comes to, and which that is.
func (l Limits) over(load *Load) (times float64, bandwidth bool) {
	rate, bytes := load[Messages]/l.MaxMessageRate, (load[In]+load[Out])/l.MaxBandwidth
	return max(rate, bytes), bytes > rate
}

// Separation is how a unit is divided.
type Separation struct {
	// At is the first operator of the second half; 0 if the unit is divided by key.
	At int
	// Partitions is into how many units it is divided by key; 0 if it is not.
	Partitions int
	// Shares are what of the throughput each new unit has, together 1.
	Shares []float64
}

// maxPartitions bounds into how many units one is divided at a time.
const maxPartitions = 64

// ErrWhole is returned for a unit that cannot be divided.
var ErrWhole = errors.New("it is one operator whose state is not by key")

// Separate divides a unit whose load is so many times what it may be: between two operators, where the throughput of the two
// halves is nearest to equal, or by key if it is one operator. by are the figures to go by, one an operator.
func Separate(parts []Part, by []float64, times float64) (Separation, error) {
	switch {
	case len(parts) == 0:
		return Separation{}, errors.New("its operators are not known")
	case len(by) != len(parts):
		return Separation{}, fmt.Errorf("the throughput of %d operators is known, and it has %d", len(by), len(parts))
	case len(parts) == 1 && !parts[0].Keyed:
		return Separation{}, ErrWhole
	case len(parts) == 1:
		n := int(min(max(2, math.Ceil(times)), maxPartitions))
		s := Separation{Partitions: n, Shares: make([]float64, n)}
		for i := range s.Shares {
			s.Shares[i] = 1 / float64(n)
		}
		return s, nil
	}
	total := 0.0
	for _, v := range by {
		total += v
	}
	at, before, best := 1, 0.0, math.Inf(1)
	for i, sum := 1, 0.0; i < len(by); i++ {
		sum += by[i-1]
		if apart := math.Abs(total - 2*sum); apart < best {
			at, before, best = i, sum, apart
		}
	}
	share := 0.5
	if total > 0 {
		share = before / total
	}
	return Separation{At: at, Shares: []float64{share, 1 - share}}, nil
}

// describe says where a unit is divided.
func (s Separation) describe(parts []Part) string {
	if s.Partitions > 0 {
		return fmt.Sprintf("divided by key into %d partitions of %s", s.Partitions, parts[0].Name)
	}
	return fmt.Sprintf("divided before %s, %s and %s of the throughput", parts[s.At].Name, figure(s.Shares[0]), figure(s.Shares[1]))
}

// units are what a unit becomes. A part of a replica is a replica of that part alone.
func (s Separation) units(u *unit) []Unit {
	list := make([]Unit, len(s.Shares))
	for i, share := range s.Shares {
		part := u.Unit
		part.ID = UnitID(fmt.Sprintf("%s/%d", u.ID, i+1))
		part.Expected = u.smoothed.times(share)
		if u.Replicas != "" {
			part.Replicas = fmt.Sprintf("%s/%d", u.Replicas, i+1)
		}
		switch {
		case s.Partitions > 0: // each partition is the whole operator, for its keys
		case i == 0:
			part.Parts = u.Parts[:s.At]
		default:
			part.Parts = u.Parts[s.At:]
		}
		list[i] = part
	}
	return list
}
