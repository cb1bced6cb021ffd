package world

import "fednode/query/tuple"

// NodeID numbers the nodes of a world from 0.
type NodeID int16

// Program is what runs on a node during one life of it. The world calls it, one call at a time; the program acts on the
// world during a call and asks [World.Local] for the time.
type Program interface {
	// Boot begins the life. What earlier lives made durable is on the node's disk.
	Boot()
	// Opened says that a connection with peer stands, whoever asked for it; one that stood before is over.
	Opened(peer NodeID)
	// Closed says that the connection with peer is over, or that a dial failed.
	Closed(peer NodeID, why Closing)
	// Message hands over what peer sent. m is taken back afterwards; what it refers to is not.
	Message(peer NodeID, m *Message)
	// Stored says how a commit ended.
	Stored(ticket uint32, ok bool)
	// Due returns when the program wants to be woken, Never if it does not.
	Due() tuple.Instant
	// Wake is called when Due has come and everything that had arrived has been handed over.
	Wake()
}

// Never is a time that does not come.
const Never tuple.Instant = 1<<63 - 1

// Closing says why there is no connection.
type Closing uint8

// The reasons.
const (
	// Ended: the peer closed it, died or restarted.
	Ended Closing = iota
	// Refused: nobody listens there.
	Refused
	// Unanswered: the dial took too long.
	Unanswered
)

// String names the reason.
func (c Closing) String() string { return [...]string{"ended", "refused", "unanswered"}[c] }
