package scenario

import "time"

// Report is what a run of a scenario showed.
type Report struct {
	Scenario string    `json:"scenario"`
	Title    string    `json:"title"`
	Mode     string    `json:"mode"`
	Dir      string    `json:"dir"`
	Began    time.Time `json:"began"`
	Seconds  float64   `json:"seconds"`
	// StableRows and TentativeRows that a client got; Lost counts gaps, Late rows that sources set aside, Undone stable rows that were taken back or came
	// twice, Open tentative rows that nothing has replaced at the end.
	StableRows    uint64 `json:"stable_rows"`
	TentativeRows uint64 `json:"tentative_rows"`
	Lost          uint64 `json:"lost"`
	Late          uint64 `json:"late"`
	Undone        int    `json:"undone"`
	Open          int    `json:"open"`
	// NormalDelay is from a row's time until the client had it, before the first fault; LongestDelay is by how much the
	// most delayed new row was later than that. Seconds.
	NormalDelay  float64 `json:"normal_delay_s"`
	LongestDelay float64 `json:"longest_delay_s"`
	// Stabilise is how long after the last fault had ended results were late or tentative, in seconds.
	Stabilise float64 `json:"stabilise_s"`
	// Changes is how often one reader, of those of fragments and sinks, took another replica to read from, at most.
	Changes int `json:"changes"`
	// Equal: all outputs are byte for byte those of an undisturbed run; Sums are their sha256. Else Difference says where
	// they differ first. Both are empty where nothing was compared.
	Equal      bool              `json:"equal"`
	Sums       map[string]string `json:"sums"`
	Difference string            `json:"difference"`
	Failures   []Failure         `json:"failures"`
}

// Failure is a condition that did not hold.
type Failure struct {
	At       string `json:"at"` // file:line:column
	Expected string `json:"expected"`
	Seen     string `json:"seen"`
}

// OK reports whether all held.
func (r *Report) OK() bool { return len(r.Failures) == 0 }
