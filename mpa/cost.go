package mpa

import (
	"fmt"
	"math"
)

// Cost is what it costs a participant to carry a load, in micro-units of money per second: increasing, convex, and finite
// at every load from 0 on, also above full.
type Cost interface {
	// At returns the cost at a load ≥ 0.
	At(load float64) float64
	// Slope returns the cost of one more unit of load there.
	Slope(load float64) float64
}

// Marginal returns what a task of a size adds to the cost at a load.
func Marginal(c Cost, load, size float64) float64 { return c.At(load+size) - c.At(load) }

// Saving returns what giving a task of a size away saves at a load. The load is at least the size, but for rounding.
func Saving(c Cost, load, size float64) float64 { return c.At(load) - c.At(max(0, load-size)) }

// Queue is the expected number of tuples in an M/M/1 queue, ρ/(1−ρ) with ρ = load/Capacity, times Scale. Above ρ = 0.98
// it goes on as its Taylor polynomial of second order, so that it stays convex and finite.
type Queue struct{ capacity, scale float64 }

// queueBend is the ρ above which the queue's cost is continued.
const queueBend = 0.98

// NewQueue returns the cost of a queue whose full speed is capacity, in units of load, with scale micro-units a second for
// each tuple that waits.
func NewQueue(capacity, scale float64) (Queue, error) {
	if err := positive("capacity", capacity); err != nil {
		return Queue{}, err
	}
	return Queue{capacity, scale}, positive("scale", scale)
}

// At returns the cost at a load.
func (q Queue) At(load float64) float64 {
	r := load / q.capacity
	if r <= queueBend {
		return q.scale * r / (1 - r)
	}
	const left = 1 - queueBend
	over := r - queueBend
	return q.scale * (queueBend/left + over/(left*left) + over*over/(left*left*left))
}

// Slope returns the cost of one more unit of load.
func (q Queue) Slope(load float64) float64 {
	r := load / q.capacity
	if r <= queueBend {
		return q.scale / ((1 - r) * (1 - r)) / q.capacity
	}
	const left = 1 - queueBend
	return q.scale * (1/(left*left) + 2*(r-queueBend)/(left*left*left)) / q.capacity
}

// Power is scale·(load/capacity)^exponent.
type Power struct{ capacity, scale, exponent float64 }

// maxExponent bounds the exponent of Power; above it costs differ by more than a float64 can tell.
const maxExponent = 64

// NewPower returns the cost of a power of the load, which is scale micro-units a second at capacity. The exponent is from
// 1 to 64; at 1 the cost is linear, and load never moves for the price alone.
func NewPower(capacity, scale, exponent float64) (Power, error) {
	if err := positive("capacity", capacity); err != nil {
		return Power{}, err
	}
	if !(exponent >= 1 && exponent <= maxExponent) {
		return Power{}, fmt.Errorf("exponent %g: from 1 to %d is expected, so that cost is convex", exponent, maxExponent)
	}
	return Power{capacity, scale, exponent}, positive("scale", scale)
}

// At returns the cost at a load.
func (p Power) At(load float64) float64 { return p.scale * math.Pow(load/p.capacity, p.exponent) }

// Slope returns the cost of one more unit of load.
func (p Power) Slope(load float64) float64 {
	return p.scale * p.exponent * math.Pow(load/p.capacity, p.exponent-1) / p.capacity
}

func positive(what string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s %g: a finite number above 0 is expected", what, v)
	}
	return nil
}
