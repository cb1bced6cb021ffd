package sim

import "fednode/mpa"

// Observer is told of a run as it goes. Embed Silent to be told of some of it.
type Observer interface {
	Began(b Beginning)
	Moved(m Move)
	// Sampled comes every second.
	Sampled(s Sample)
	// Decided comes only if the run explains.
	Decided(node int, d mpa.Decision)
	// Stop ends the run if it is true; it is asked every second.
	Stop() bool
}

// Silent is an observer that wants nothing.
type Silent struct{}

func (Silent) Began(Beginning)           {}
func (Silent) Moved(Move)                {}
func (Silent) Sampled(Sample)            {}
func (Silent) Decided(int, mpa.Decision) {}
func (Silent) Stop() bool                { return false }

// Beginning is what a run begins with.
type Beginning struct {
	// Level is the load above which a participant is overloaded.
	Level float64
	// Price is the highest price of a unit of load, in units of money a second.
	Price float64
	// Loads are those of the participants.
	Loads []float64
	// Edges are the contracts, each with its prices.
	Edges []Edge
}

// Sample is the state of a run at a moment.
type Sample struct {
	At mpa.Instant
	// Overloaded counts participants above their level, Excess is the load above it as a share of all load.
	Overloaded int
	Excess     float64
	Moves      int
	Messages   int
	// Price is the mean price paid for a unit of load so far, as a share of the highest; 0 if nothing moved.
	Price float64
}
