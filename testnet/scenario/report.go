package scenario

import (
	"fmt"
	"time"
)

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
	// Slowest is the row that LongestDelay is of; nil if no row was new.
	Slowest *Slowest `json:"slowest"`
	// Stabilise is how long after the last fault had ended results were late or tentative, in seconds.
	Stabilise float64 `json:"stabilise_s"`
	// Changes is how often one reader, of those of fragments and sinks, took another replica to read from, at most.
	Changes int `json:"changes"`
	// Equal: all outputs are byte for byte those of an undisturbed run; Sums are their sha256. Else Difference says where
	// they differ first. Both are empty where nothing was compared.
	Equal      bool              `json:"equal"`
	Part       bool              `json:"part"` // what there is stands in it, up to its end; only if that is asked for
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

// Slowest is the new row that was longest under way to the client that measures, which follows an output at the first node.
type Slowest struct {
	Offset    float64   `json:"offset_s"` // when it came, from the beginning of the scenario
	Output    string    `json:"output"`
	ID        uint64    `json:"id"` // 0 if tentative
	Stime     time.Time `json:"stime"`
	Tentative bool      `json:"tentative"`
	Delay     float64   `json:"delay_s"` // with what is normal
	// Quiet is for how long the client had got nothing before: all of the delay if what carries the rows stood still, next to
	// none if it fell behind.
	Quiet float64 `json:"quiet_s"`
	// After is what came between the row before and this one: "a new connection", "a gap" or nothing.
	After string `json:"after"`
}

func (s *Slowest) String() string {
	row := fmt.Sprintf("row %d", s.ID)
	if s.Tentative {
		row = "a tentative row"
	}
	text := fmt.Sprintf("%s of %s, of %s, came at %.1f s, %.2f s old, when nothing had come for %.2f s", row, s.Output,
		s.Stime.UTC().Format("15:04:05.000"), s.Offset, s.Delay, s.Quiet)
	if s.After != "" {
		text += ", behind " + s.After
	}
	return text
}

// OK reports whether all held.
func (r *Report) OK() bool { return len(r.Failures) == 0 }
