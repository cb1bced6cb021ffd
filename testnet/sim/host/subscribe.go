package host

import (
	"fednode/dcaa"
	"fednode/query/tuple"
	"fednode/testnet/sim/world"
)

// Subscribe asks a peer for a stream; conn is the actor's name for the subscription. The answer comes later, Closed at
// the next moment if there is no connection.
func (h *Host) Subscribe(peer world.NodeID, stream int32, conn uint64, r Request) {
	h.next++
	m := h.W.Send(peer, 128, false)
	if m == nil {
		h.failed = append(h.failed, failed{stream: stream, conn: conn})
		return
	}
	m.Kind, m.Sub, m.Stream, m.At, m.Also = kindSubscribe, h.next, stream, r.From, r.Durable
	if r.Tentative {
		m.Number, m.Count = 1, int64(r.TentativeFrom)
	}
	h.taken = append(h.taken, taken{number: h.next, peer: peer, stream: stream, conn: conn})
}

// failed is a subscription for which there was no connection.
type failed struct {
	stream int32
	conn   uint64
}

// tellFailed says so, outside of the call that asked.
func (h *Host) tellFailed() {
	for len(h.failed) > 0 {
		f := h.failed[0]
		h.failed = h.failed[1:]
		h.actor.Closed(f.stream, f.conn)
	}
}

// Unsubscribe ends a subscription of ours; what is on its way is dropped.
func (h *Host) Unsubscribe(stream int32, conn uint64) {
	for i := range h.taken {
		t := &h.taken[i]
		if t.stream != stream || t.conn != conn {
			continue
		}
		if m := h.W.Send(t.peer, 64, false); m != nil {
			m.Kind, m.Sub = kindUnsubscribe, t.number
		}
		h.removeTaken(i)
		return
	}
}

func (h *Host) removeTaken(i int) {
	h.taken = append(h.taken[:i], h.taken[i+1:]...)
}

func (h *Host) removeServed(i int) {
	h.served[i].request = Request{}
	h.served = append(h.served[:i], h.served[i+1:]...)
}

// findTaken returns the subscription that a message belongs to, -1 if we have ended it.
func (h *Host) findTaken(peer world.NodeID, number uint32) int {
	for i := range h.taken {
		if h.taken[i].number == number && h.taken[i].peer == peer {
			return i
		}
	}
	return -1
}

// takeAnswer acts on what became of a request.
func (h *Host) takeAnswer(peer world.NodeID, m *world.Message) {
	i := h.findTaken(peer, m.Sub)
	if i < 0 {
		return
	}
	t := h.taken[i]
	switch m.Kind {
	case kindOpened:
		h.actor.Opened(t.stream, t.conn)
	case kindRefused:
		h.removeTaken(i)
		h.actor.Refused(t.stream, t.conn)
	case kindTruncated:
		h.removeTaken(i)
		h.actor.Truncated(t.stream, t.conn, m.At)
	}
}

// takeFrame hands a frame to the actor, and gives credit back.
func (h *Host) takeFrame(s *session, m *world.Message) {
	i := h.findTaken(s.peer, m.Sub)
	if i < 0 {
		return
	}
	t := &h.taken[i]
	t.owed += h.weight(m.Frame)
	if t.owed >= h.cfg.Window/2 {
		if c := h.W.Send(s.peer, 64, false); c != nil {
			c.Kind, c.Sub, c.Count = kindCredit, t.number, t.owed
			t.owed = 0
		}
	}
	f := m.Frame
	if f.Batch != nil {
		h.W.Spend(h.cfg.RowCost * int64(f.Batch.Rows()))
	}
	h.actor.Frame(t.stream, t.conn, f)
	h.burst(h.weight(f))
}

// maxBurst is how much of a window is filed before the node does what has become due, as in the daemon: a long queue of
// input keeps back neither heartbeats nor results.
const maxBurst = 64

func (h *Host) burst(weight int64) {
	if h.filed += weight; h.filed >= maxBurst && h.Now() >= dcaa.Instant(h.Due()) {
		h.Wake()
	}
}

// takeSubscribe serves a peer that asks.
func (h *Host) takeSubscribe(peer world.NodeID, m *world.Message) {
	r := Request{From: m.At, Durable: m.Also, Tentative: m.Number != 0, TentativeFrom: tuple.Time(m.Count)}
	number, stream := m.Sub, m.Stream
	kind, first := kindOpened, tuple.Position{}
	var place Place
	if o := h.outputs[stream]; o == nil {
		kind = kindRefused
	} else {
		var ok bool
		if place, first, ok = o.Attach(peer, r); !ok {
			kind = kindTruncated
		}
	}
	a := h.W.Send(peer, 128, false)
	if a == nil {
		return
	}
	a.Kind, a.Sub, a.At = kind, number, first
	if kind == kindOpened {
		h.served = append(h.served, served{number: number, peer: peer, stream: stream, place: place, credit: h.cfg.Window, request: r, sent: r.From})
		h.pump(len(h.served) - 1)
	}
}

// overtaken ends a subscription that was too slow: it was not counted, and what it needs next has been dropped.
func (h *Host) overtaken(i int, first tuple.Position) {
	s := h.served[i]
	h.removeServed(i)
	if m := h.W.Send(s.peer, 128, false); m != nil {
		m.Kind, m.Sub, m.At = kindTruncated, s.number, first
	}
}

func (h *Host) dropServed(peer world.NodeID, number uint32) {
	for i := range h.served {
		if h.served[i].peer == peer && h.served[i].number == number {
			h.removeServed(i)
			return
		}
	}
}

func (h *Host) takeCredit(peer world.NodeID, m *world.Message) {
	for i := range h.served {
		if h.served[i].peer == peer && h.served[i].number == m.Sub {
			h.served[i].credit += m.Count
			h.pump(i)
			return
		}
	}
}

// Pump sends every subscriber of a stream what is new. The actor calls it after it has added frames to an Output.
func (h *Host) Pump(stream int32) {
	for i := len(h.served) - 1; i >= 0; i-- { // pump may take the one at i away
		if h.served[i].stream == stream {
			h.pump(i)
		}
	}
}

// weight is how much of a window a frame takes.
func (h *Host) weight(f *tuple.Frame) int64 {
	if f.Batch == nil {
		return 1
	}
	return 1 + int64(f.Batch.Rows())/h.cfg.Heavy
}

// pump sends one subscriber what it has credit for.
func (h *Host) pump(i int) {
	s := &h.served[i]
	o := h.outputs[s.stream]
	for s.credit > 0 {
		if gone := o.Gone(s.sent); gone != nil {
			h.overtaken(i, gone.First) // what is held behind the rows that are gone, be it a boundary, would pass them over
			return
		}
		f, place := o.Next(s.place, &s.request, h.Now())
		s.place = place
		if f == nil {
			return
		}
		s.sent = s.sent.Past(f)
		m := h.W.Send(s.peer, dcaa.FrameBytes(f), false)
		if m == nil {
			return
		}
		m.Kind, m.Sub, m.Frame = kindFrame, s.number, f
		s.credit -= h.weight(f)
	}
}

// Relied reports whether somebody takes tentative frames of a stream.
func (h *Host) Relied(stream int32) bool {
	for i := range h.served {
		if h.served[i].stream == stream && h.served[i].request.Tentative {
			return true
		}
	}
	return false
}

// Subscribers returns how many subscriptions to a stream are served.
func (h *Host) Subscribers(stream int32) int {
	n := 0
	for i := range h.served {
		if h.served[i].stream == stream {
			n++
		}
	}
	return n
}
