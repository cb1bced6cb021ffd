package host

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Actor is what runs on a node in one of its lives. Its methods are called one at a time, and act through the Host.
type Actor interface {
	// Boot begins the life; the host is ready for everything.
	Boot()
	// Reachable says whether a peer is heard and hears us. At first none is.
	Reachable(peer world.NodeID, up bool)
	// Heard brings what a peer's heartbeat says of the streams it serves; Beat appends what ours is to say to the peer.
	Heard(peer world.NodeID, streams []world.Status)
	Beat(peer world.NodeID, streams []world.Status) []world.Status
	// Opened, Refused, Truncated and Closed answer Subscribe; Closed also ends a subscription that stood.
	Opened(stream int32, conn uint64)
	Refused(stream int32, conn uint64)
	Truncated(stream int32, conn uint64, first tuple.Position)
	Closed(stream int32, conn uint64)
	// Frame brings what a subscription gives.
	Frame(stream int32, conn uint64, f *tuple.Frame)
	// Peer brings what another node's actor sent with Tell.
	Peer(peer world.NodeID, body any)
	// Acked says that a subscriber's durable state covers a stream up to at.
	Acked(peer world.NodeID, stream int32, at tuple.Position)
	// Owe says whether input waits that our own processor has not come to.
	Owe(owing bool)
	// Resumed says that the node stood still for so many microseconds.
	Resumed(gap int64)
	// Stored says how a commit ended.
	Stored(ticket uint32, ok bool)
	// Due and Wake are timers, as in world.Program.
	Due() dcaa.Instant
	Wake()
}

// Output is one stream as a node serves it.
type Output interface {
	// Attach takes a subscriber on that has asked for a stream. place is where it begins; refused, it is told where it can
	// go on.
	Attach(peer world.NodeID, r Request) (place Place, first tuple.Position, ok bool)
	// Next returns the first frame at or behind a place, as it is to be given now, and the place behind it; nil if there is
	// none yet.
	Next(place Place, r *Request, now dcaa.Instant) (*tuple.Frame, Place)
	// Gone says where a subscriber can go on if something behind a position is not held any more; nil if all is.
	Gone(at tuple.Position) *dcaa.TruncatedError
}

// Place is how far a subscriber has been given an output: numbers of the next stable and the next tentative frame.
type Place struct{ Stable, Tentative uint64 }

// Request is what a subscriber asks for.
type Request struct {
	// From is what it holds, Durable what of that it will not ask for again.
	From    tuple.Position
	Durable tuple.Position
	// Tentative asks for tentative frames too, from TentativeFrom on.
	Tentative     bool
	TentativeFrom tuple.Time
}
