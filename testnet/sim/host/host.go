package host

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// The messages between hosts.
const (
	kindBeat world.Kind = iota + 1
	kindSubscribe
	kindOpened
	kindRefused
	kindTruncated
	kindUnsubscribe
	kindFrame
	kindCredit
	kindAck
	kindPeer
)

// Settings of every host. Durations are microseconds.
type Settings struct {
	Heartbeat int64
	Miss      int
	// Abandon is after how much silence a connection is given up and dialled anew.
	Abandon int64
	// Window is how many frames of a subscription may be on their way, Heavy how many rows count as one more frame: as in
	// the daemon, whose windows are of bytes, what is on its way keeps a receiver busy for about a tenth of a second.
	Window int64
	Heavy  int64
	// EventCost is what handling a message costs on a healthy node, RowCost each row in it.
	EventCost int64
	RowCost   int64
}

// DefaultSettings are those of a node that nobody configured.
func DefaultSettings() Settings {
	return Settings{Heartbeat: 100_000, Miss: 3, Abandon: 10_000_000, Window: 256, Heavy: 80, EventCost: 5, RowCost: 5}
}

// Peer is a node that a host talks to.
type Peer struct {
	ID world.NodeID
	// Dial: this side makes the connection.
	Dial bool
}

// Host is the shell of one life of one node. It is a world.Program.
type Host struct {
	// W is the world that the actor acts on, ID its own node, and Life the number of this life.
	W    *world.World
	ID   world.NodeID
	Life uint64

	cfg      *Settings
	actor    Actor
	sessions []session
	at       []int32 // index in sessions by node, -1 for none
	taken    []taken // subscriptions that we hold
	served   []served
	outputs  []Output // by stream, nil where we serve none
	failed   []failed
	next     uint32 // number of the next subscription
	tick     dcaa.Instant
	ticked   dcaa.Instant // when it last was
	noticed  dcaa.Instant // when anything was last handed over
	owing    bool
	filed    int64 // weight of the frames since Wake
}

// taken is a subscription of ours.
type taken struct {
	number uint32
	peer   world.NodeID
	stream int32
	conn   uint64 // the actor's name for it
	owed   int64  // frames handled for which no credit has been given back
}

// served is a subscription of a peer.
type served struct {
	number  uint32
	peer    world.NodeID
	stream  int32
	place   Place
	credit  int64
	sent    tuple.Position
	request Request
}

// New returns the host of a life. nodes and streams are how many there are in the federation.
func New(w *world.World, id world.NodeID, life uint64, cfg *Settings, nodes, streams int, peers []Peer) *Host {
	h := &Host{W: w, ID: id, Life: life, cfg: cfg, at: make([]int32, nodes), outputs: make([]Output, streams)}
	for i := range h.at {
		h.at[i] = -1
	}
	for _, p := range peers {
		h.at[p.ID] = int32(len(h.sessions))
		h.sessions = append(h.sessions, session{peer: p.ID, dial: p.Dial})
	}
	return h
}

// Run gives the host its actor.
func (h *Host) Run(a Actor) { h.actor = a }

// Serve serves a stream from now on.
func (h *Host) Serve(stream int32, o Output) { h.outputs[stream] = o }

// Now returns what this node's clock shows.
func (h *Host) Now() dcaa.Instant { return dcaa.Instant(h.W.Local()) }

// Boot begins the life.
func (h *Host) Boot() {
	now := h.Now()
	h.ticked, h.noticed = now, now
	h.tick = now.Add(h.W.Rand.Int64N(h.cfg.Heartbeat))
	for i := range h.sessions {
		h.sessions[i].begin(now, h.cfg)
		h.dialDue(&h.sessions[i], now)
	}
	h.actor.Boot()
}

// Due is when the host or its actor wants to be woken.
func (h *Host) Due() tuple.Instant {
	if len(h.failed) > 0 {
		return tuple.Instant(min(h.tick, h.ticked))
	}
	return tuple.Instant(min(h.tick, h.actor.Due()))
}

// Wake does what is due.
func (h *Host) Wake() {
	now := h.Now()
	h.notice()
	h.filed = 0
	h.owe()
	h.tellFailed()
	if now >= h.tick {
		h.beat(now)
	}
	if now >= h.actor.Due() {
		h.actor.Wake()
	}
}

// Stored passes the end of a commit on.
func (h *Host) Stored(ticket uint32, ok bool) {
	h.notice()
	h.actor.Stored(ticket, ok)
}

// owe tells the actor whether input waits for this node's processor.
func (h *Host) owe() {
	if owing := h.W.Waiting(h.ID) > 0; owing != h.owing {
		h.owing = owing
		h.actor.Owe(owing)
	}
}

// Message acts on what a peer sent.
func (h *Host) Message(peer world.NodeID, m *world.Message) {
	h.W.Spend(h.cfg.EventCost)
	s := h.session(peer)
	if s == nil {
		return
	}
	h.notice()
	now := h.Now()
	if int64(now-s.heard) > s.patience.base {
		s.resumed = now
	}
	s.heard = now
	h.owe()
	switch m.Kind {
	case kindBeat:
		h.takeBeat(s, m)
	case kindFrame:
		h.takeFrame(s, m)
	case kindSubscribe:
		h.takeSubscribe(peer, m)
	case kindUnsubscribe:
		h.dropServed(peer, m.Sub)
	case kindCredit:
		h.takeCredit(peer, m)
	case kindAck:
		h.actor.Acked(peer, m.Stream, m.At)
	case kindPeer:
		h.actor.Peer(peer, m.Body)
	case kindOpened, kindRefused, kindTruncated:
		h.takeAnswer(peer, m)
	}
}

// Tell sends a message of the actor's own to a peer; it is lost if no connection stands, and can come twice or late.
func (h *Host) Tell(peer world.NodeID, body any) {
	if m := h.W.Send(peer, 128, true); m != nil {
		m.Kind, m.Body = kindPeer, body
	}
}

// Ack tells a producer what our durable state covers.
func (h *Host) Ack(peer world.NodeID, stream int32, at tuple.Position) {
	if m := h.W.Send(peer, 64, true); m != nil {
		m.Kind, m.Stream, m.At = kindAck, stream, at
	}
}

// SpendRows says that so many rows are worked on.
func (h *Host) SpendRows(n int) { h.W.Spend(h.cfg.RowCost * int64(n)) }
