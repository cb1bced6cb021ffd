package evaluate

import (
	"fmt"
	"strconv"
)

// Micros is a time in microseconds; in JSON it is seconds.
type Micros int64

// Seconds returns the time in seconds.
func (m Micros) Seconds() float64 { return float64(m) / 1e6 }

// String renders the time in seconds, to the hundredth.
func (m Micros) String() string { return fmt.Sprintf("%.2f s", m.Seconds()) }

// MarshalJSON writes seconds.
func (m Micros) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, m.Seconds(), 'f', -1, 64), nil
}

// Figures are what a cell's runs showed: the longest times, and counts on average.
type Figures struct {
	// Runs is how many runs they are of, Rows how many stable rows the client got.
	Runs int `json:"runs"`
	Rows int `json:"stable_rows"`
	// Normal is the longest delay of a row before anything fails, Normal99 the 99th percentile.
	Normal   Micros `json:"normal_delay"`
	Normal99 Micros `json:"normal_delay_p99"`
	// Delay is the longest delay of a new row from the failure on, Incremental what that is beyond Normal.
	Delay       Micros `json:"delay"`
	Incremental Micros `json:"incremental_delay"`
	// Gap is the longest time without new results from the failure on; 0 if it was not measured.
	Gap Micros `json:"gap"`
	// Tentative is how many tentative rows the client got.
	Tentative int `json:"tentative_rows"`
	// Corrected is how long after the failure the client holds nothing tentative, Settled how long after it every replica
	// is STABLE; 0 if nothing had to be corrected.
	Corrected Micros `json:"corrected"`
	Settled   Micros `json:"settled"`
	// Worked is the processor time of all replicas in the whole run.
	Worked Micros `json:"worked"`
	// Holes counts new rows that came after the client had been told that none was missing there.
	Holes int `json:"holes"`
	// Unequal counts runs whose stable results were not those of a run without failures, or were not seen to be.
	Unequal int `json:"unequal"`
	// Breaches are the promises that did not hold, as the simulator tells them.
	Breaches []string `json:"breaches,omitempty"`
}

// add takes another run in.
func (f *Figures) add(o Figures) {
	f.Runs += o.Runs
	f.Rows += o.Rows
	f.Normal, f.Normal99 = max(f.Normal, o.Normal), max(f.Normal99, o.Normal99)
	f.Delay, f.Incremental = max(f.Delay, o.Delay), max(f.Incremental, o.Incremental)
	f.Gap = max(f.Gap, o.Gap)
	f.Tentative += o.Tentative
	f.Corrected, f.Settled = max(f.Corrected, o.Corrected), max(f.Settled, o.Settled)
	f.Worked = max(f.Worked, o.Worked)
	f.Holes += o.Holes
	f.Unequal += o.Unequal
	f.Breaches = append(f.Breaches, o.Breaches...)
}

// mean turns the sums of rows into averages. What must never be stays a sum.
func (f *Figures) mean() {
	if f.Runs > 0 {
		f.Tentative = (f.Tentative + f.Runs - 1) / f.Runs // one row in any run shows
		f.Rows /= f.Runs
	}
}
