package wire

import (
	"fmt"

	"fednode/query/tuple"
)

// Message is one message of the control stream; the types below are all there are.
type Message interface {
	// Kind returns the kind on the wire.
	Kind() Kind
	check() error
}

// Hello is the first message of both sides: who they are and which versions they speak. A peer is up once it has said
// hello, not when its connection stands.
type Hello struct {
	Versions    []uint8 `cbor:"1,keyasint"` // spoken, any order
	Incarnation uint64  `cbor:"2,keyasint"` // grows with each start of the node
	Node        string  `cbor:"3,keyasint"` // peer id
	Org         string  `cbor:"4,keyasint"`
	Software    string  `cbor:"5,keyasint"` // for people
}

// Subscribe asks for a stream from a position on.
type Subscribe struct {
	Subscription uint64 `cbor:"1,keyasint"` // chosen by the subscriber, unique for this connection
	Stream       string `cbor:"2,keyasint"`
	// Generation, Time and ID are the tuple.Position consumed so far.
	Generation uint64     `cbor:"3,keyasint"`
	Time       tuple.Time `cbor:"4,keyasint"`
	ID         uint64     `cbor:"5,keyasint"`
	// Tentative is the tentative boundary held; nil if none is.
	Tentative *tuple.Time `cbor:"6,keyasint,omitempty"`
	// Subscriber is the name under which acknowledgements count, the same over reconnects: "org/node/query/fragment". A
	// subscriber that is not counted holds nothing back at the producer.
	Subscriber string `cbor:"7,keyasint"`
	Counted    bool   `cbor:"8,keyasint,omitempty"`
	// DurableTime and DurableID are what the subscriber's durable state covers, in Generation: an acknowledgement.
	DurableTime tuple.Time `cbor:"9,keyasint"`
	DurableID   uint64     `cbor:"10,keyasint"`
}

// Position returns the position as one value.
func (s *Subscribe) Position() tuple.Position {
	return tuple.Position{Generation: s.Generation, Time: s.Time, ID: s.ID}
}

// Durable returns what the subscriber's durable state covers as one value.
func (s *Subscribe) Durable() tuple.Position {
	return tuple.Position{Generation: s.Generation, Time: s.DurableTime, ID: s.DurableID}
}

// Subscribed grants a subscription. Its data stream begins with the same number in an Attach.
type Subscribed struct {
	Subscription uint64 `cbor:"1,keyasint"`
	Generation   uint64 `cbor:"2,keyasint"`
	NextID       uint64 `cbor:"3,keyasint"` // the first id that will be sent
	Fingerprint  uint64 `cbor:"4,keyasint"` // of the schema
}

// Refused declines a subscription, precisely enough to act on.
type Refused struct {
	Subscription uint64  `cbor:"1,keyasint"`
	Reason       Refusal `cbor:"2,keyasint"`
	Detail       string  `cbor:"3,keyasint"`
}

// Unsubscribe ends a subscription; what is on its way may still come.
type Unsubscribe struct {
	Subscription uint64 `cbor:"1,keyasint"`
}

// Ack says that a subscriber holds all rows of a stream up to an id, and all with smaller stimes than Time, at a level of
// safety.
type Ack struct {
	Stream     string     `cbor:"1,keyasint"`
	Generation uint64     `cbor:"2,keyasint"`
	ID         uint64     `cbor:"3,keyasint"`
	Level      AckLevel   `cbor:"4,keyasint"`
	Subscriber string     `cbor:"5,keyasint"`
	Time       tuple.Time `cbor:"6,keyasint"`
}

// Position returns what is acknowledged as one value.
func (a *Ack) Position() tuple.Position {
	return tuple.Position{Generation: a.Generation, Time: a.Time, ID: a.ID}
}

// Credit grants more bytes of data frames, on top of what was granted before.
type Credit struct {
	Subscription uint64 `cbor:"1,keyasint"`
	Bytes        uint64 `cbor:"2,keyasint"`
}

// Heartbeat says that the node lives, how each stream that the peer shares fares, and whom this node hears.
type Heartbeat struct {
	Streams []StreamStatus `cbor:"1,keyasint,omitempty"`
	HeardBy []string       `cbor:"2,keyasint,omitempty"` // peer ids

	// The way is measured by these, in microseconds: when it was sent, by the sender's clock; the newest such time that the
	// sender has got, and how long before; and the round trip in calm, as the sender has measured it. 0 is none.
	Sent int64 `cbor:"3,keyasint,omitempty"`
	Echo int64 `cbor:"4,keyasint,omitempty"`
	Held int64 `cbor:"5,keyasint,omitempty"`
	Calm int64 `cbor:"6,keyasint,omitempty"`
}

// StreamStatus is one stream in a heartbeat.
type StreamStatus struct {
	Name       string      `cbor:"1,keyasint"`
	State      StreamState `cbor:"2,keyasint"`
	Boundary   tuple.Time  `cbor:"3,keyasint"`           // stable
	Holding    int64       `cbor:"4,keyasint,omitempty"` // microseconds since a bucket is held; 0 is not holding
	Generation uint64      `cbor:"5,keyasint"`
	LastID     uint64      `cbor:"6,keyasint"`
	Sum        uint64      `cbor:"7,keyasint,omitempty"` // checksum of the rows before the boundary; 0 is none
	Begins     tuple.Time  `cbor:"8,keyasint,omitempty"` // where a generation of best-effort results begins; 0 is nowhere
	Above      int64       `cbor:"9,keyasint,omitempty"` // microseconds since one of those above holds a bucket; 0 is none
}

// Revision identifies one state of a descriptor. The greater (term, epoch, writer) is in force.
type Revision struct {
	Query  string `cbor:"1,keyasint"`
	Term   uint64 `cbor:"2,keyasint"`
	Epoch  uint64 `cbor:"3,keyasint"`
	Writer string `cbor:"4,keyasint"` // peer id
	Hash   Hash   `cbor:"5,keyasint"`
}

// Hash is the SHA-256 of a descriptor.
type Hash [32]byte

// MarshalBinary returns the 32 bytes.
func (h Hash) MarshalBinary() ([]byte, error) { return h[:], nil }

// UnmarshalBinary takes exactly 32 bytes.
func (h *Hash) UnmarshalBinary(b []byte) error {
	if len(b) != len(h) {
		return fmt.Errorf("a hash of %d bytes, want %d", len(b), len(h))
	}
	copy(h[:], b)
	return nil
}

// Announce spreads which descriptors the sender has.
type Announce struct {
	Revisions []Revision `cbor:"1,keyasint"`
}

// Pull asks for descriptors by their queries.
type Pull struct {
	Queries []string `cbor:"1,keyasint"`
}

// Push hands over a signed descriptor, asked for or not.
type Push struct {
	Revision   Revision `cbor:"1,keyasint"`
	Descriptor []byte   `cbor:"2,keyasint"`
}

// Host asks the peer to run fragments of a signed descriptor.
type Host struct {
	Request    uint64   `cbor:"1,keyasint"` // repeated in the reply
	Descriptor []byte   `cbor:"2,keyasint"`
	Fragments  []string `cbor:"3,keyasint"`
}

// HostReply answers Host. With Accepted false, Reason and Detail say why and what is missing.
type HostReply struct {
	Request  uint64  `cbor:"1,keyasint"`
	Accepted bool    `cbor:"2,keyasint"`
	Reason   Refusal `cbor:"3,keyasint,omitempty"`
	Detail   string  `cbor:"4,keyasint,omitempty"`
}

// Goodbye is the last message before a connection is closed on purpose.
type Goodbye struct {
	Reason Parting `cbor:"1,keyasint"`
	Detail string  `cbor:"2,keyasint,omitempty"`
}

// Error tells the peer which rule it broke; the connection ends with it.
type Error struct {
	Code Code   `cbor:"1,keyasint"`
	Text string `cbor:"2,keyasint"`
}

// Attach begins a data stream: it carries the frames of that subscription.
type Attach struct {
	Subscription uint64 `cbor:"1,keyasint"`
}

// Permission goes between the replicas of a fragment: a request to redo at full speed, or the answer to one. It may be
// lost, repeated and late.
type Permission struct {
	Fragment string `cbor:"1,keyasint"` // owner/query/fragment
	// Granted tells an answer from a request.
	Granted bool `cbor:"2,keyasint,omitempty"`
	// Asker, "org/node", with AskerIncarnation and Number, names the request.
	Asker            string `cbor:"3,keyasint"`
	AskerIncarnation uint64 `cbor:"4,keyasint"`
	Number           uint64 `cbor:"5,keyasint"`
	Missed           uint64 `cbor:"6,keyasint,omitempty"` // buckets, in a request
}

// Kind returns KindHello.
func (*Hello) Kind() Kind { return KindHello }

// Kind returns KindSubscribe.
func (*Subscribe) Kind() Kind { return KindSubscribe }

// Kind returns KindSubscribed.
func (*Subscribed) Kind() Kind { return KindSubscribed }

// Kind returns KindRefused.
func (*Refused) Kind() Kind { return KindRefused }

// Kind returns KindUnsubscribe.
func (*Unsubscribe) Kind() Kind { return KindUnsubscribe }

// Kind returns KindAck.
func (*Ack) Kind() Kind { return KindAck }

// Kind returns KindCredit.
func (*Credit) Kind() Kind { return KindCredit }

// Kind returns KindHeartbeat.
func (*Heartbeat) Kind() Kind { return KindHeartbeat }

// Kind returns KindAnnounce.
func (*Announce) Kind() Kind { return KindAnnounce }

// Kind returns KindPull.
func (*Pull) Kind() Kind { return KindPull }

// Kind returns KindPush.
func (*Push) Kind() Kind { return KindPush }

// Kind returns KindHost.
func (*Host) Kind() Kind { return KindHost }

// Kind returns KindHostReply.
func (*HostReply) Kind() Kind { return KindHostReply }

// Kind returns KindGoodbye.
func (*Goodbye) Kind() Kind { return KindGoodbye }

// Kind returns KindError.
func (*Error) Kind() Kind { return KindError }

// Kind returns KindAttach.
func (*Attach) Kind() Kind { return KindAttach }

// Kind returns KindPermission.
func (*Permission) Kind() Kind { return KindPermission }
