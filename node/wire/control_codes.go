package wire

import "fmt"

// Refusal is why a subscription or a request to host was declined.
type Refusal uint8

// The refusals.
const (
	// NoStream: there is no stream of that name here.
	NoStream Refusal = 1
	// NotExported: it exists, but is not exported to the asker.
	NotExported Refusal = 2
	// PositionGone: the position lies before what is kept; a checkpoint or state transfer is needed.
	PositionGone Refusal = 3
	// OtherGeneration: the stream is in another generation.
	OtherGeneration Refusal = 4
	// Moved: another node has it now; the detail names it.
	Moved Refusal = 5
	// NoQuota: the asker's quota of streams or bytes is used up.
	NoQuota Refusal = 6
	// MayNotHost: nothing allows this node to run that for the asker; the detail names what is missing.
	MayNotHost Refusal = 7
	// BadDescriptor: it cannot be read or its signatures do not hold.
	BadDescriptor Refusal = 8
	// StaleDescriptor: a greater revision is known.
	StaleDescriptor Refusal = 9
	// NoCapacity: there is no room now.
	NoCapacity Refusal = 10
	// Stopping: the node is about to stop.
	Stopping Refusal = 11
)

// Valid reports whether r is one of the refusals.
func (r Refusal) Valid() bool { return r >= NoStream && r <= Stopping }

// String names the refusal.
func (r Refusal) String() string {
	if !r.Valid() {
		return fmt.Sprintf("refusal(%d)", uint8(r))
	}
	return [...]string{"no-stream", "not-exported", "position-gone", "other-generation", "moved", "no-quota", "may-not-host",
		"bad-descriptor", "stale-descriptor", "no-capacity", "stopping"}[r-NoStream]
}

// AckLevel is how safe acknowledged rows are.
type AckLevel uint8

// The levels, each including those before it.
const (
	// Received: in the receiver's memory.
	Received AckLevel = 1
	// Stored: on the receiver's disk, or covered by a recovery point there.
	Stored AckLevel = 2
	// Delivered: with the application.
	Delivered AckLevel = 3
)

// Valid reports whether l is one of the levels.
func (l AckLevel) Valid() bool { return l >= Received && l <= Delivered }

// String names the level.
func (l AckLevel) String() string {
	if !l.Valid() {
		return fmt.Sprintf("level(%d)", uint8(l))
	}
	return [...]string{"received", "stored", "delivered"}[l-Received]
}

// StreamState is the state of a stream as its producer sees it.
type StreamState uint8

// The states.
const (
	Starting        StreamState = 1
	Stable          StreamState = 2
	UpstreamFailure StreamState = 3
	Stabilization   StreamState = 4
	Failure         StreamState = 5
	Ended           StreamState = 6
)

// Valid reports whether s is one of the states.
func (s StreamState) Valid() bool { return s >= Starting && s <= Ended }

// String names the state as the docs do.
func (s StreamState) String() string {
	if !s.Valid() {
		return fmt.Sprintf("state(%d)", uint8(s))
	}
	return [...]string{"STARTING", "STABLE", "UPSTREAM_FAILURE", "STABILIZATION", "FAILURE", "ENDED"}[s-Starting]
}

// Parting is why a connection is closed on purpose.
type Parting uint8

// The partings.
const (
	PartingShutdown    Parting = 1 // the node stops
	PartingNoVersion   Parting = 2 // no protocol version in common
	PartingUntrusted   Parting = 3 // the peer is not, or no longer, trusted
	PartingDuplicate   Parting = 4 // there is another connection between the two
	PartingBrokenRules Parting = 5 // after Error
)

// Valid reports whether p is one of the partings.
func (p Parting) Valid() bool { return p >= PartingShutdown && p <= PartingBrokenRules }

// String names the parting.
func (p Parting) String() string {
	if !p.Valid() {
		return fmt.Sprintf("parting(%d)", uint8(p))
	}
	return [...]string{"shutdown", "no-version", "untrusted", "duplicate", "broken-rules"}[p-PartingShutdown]
}
