package dcaa

import (
	"fmt"

	"fednode/query/tuple"
)

// State is the state of one stream as its producer sees it. The values are those of heartbeats.
type State uint8

// The states.
const (
	Starting        State = 1 // no boundary yet
	Stable          State = 2
	UpstreamFailure State = 3 // results are tentative: an input is missing
	Stabilization   State = 4 // corrections are being made, or a restarted replica catches up
	Failure         State = 5 // the producer cannot give the stream
	Ended           State = 6
)

// String names the state as heartbeats and the docs do.
func (s State) String() string {
	if s < Starting || s > Ended {
		return fmt.Sprintf("STATE(%d)", uint8(s))
	}
	return [...]string{"STARTING", "STABLE", "UPSTREAM_FAILURE", "STABILIZATION", "FAILURE", "ENDED"}[s-Starting]
}

// StreamStatus is what a heartbeat says of one stream.
type StreamStatus struct {
	State State
	// Boundary is the stable one.
	Boundary tuple.Time
	// Holding is for how long a bucket has been held, in microseconds; 0 is not at all.
	Holding    int64
	Generation uint64
	LastID     uint64
	// Sum is the checksum that the boundary had, as in tuple.Frame; 0 is none.
	Sum uint64
	// Begins is where the generation begins, or the next one will, of results that are best effort: an stime of the input. 0 if
	// that is not so.
	Begins tuple.Time
	// Above is for how long a producer above, of the same query or another, has held a bucket, in microseconds; 0 is not at all.
	Above int64
}

// Condition is how an input fares, for the SUnion that waits for it.
type Condition uint8

// The conditions.
const (
	// Failed: no producer can be reached that would give it.
	Failed Condition = iota
	// Live: the producer lives and is subscribed; it will give up first if something is missing upstream of it.
	Live
	// Waiting: it has never given a boundary, and its time to begin is not over.
	Waiting
)

// String names the condition.
func (c Condition) String() string { return [...]string{"failed", "live", "starting"}[c] }
