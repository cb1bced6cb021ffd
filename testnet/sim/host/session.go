package host

import (
	"fednode/dcaa"
	"fednode/testnet/sim/world"
)

// session is what a host knows of one peer.
type session struct {
	peer world.NodeID
	dial bool
	// connected: a connection stands; up: the actor holds the peer for reachable.
	connected bool
	up        bool
	dialing   bool
	redial    dcaa.Instant // not before
	backoff   int64
	heard     dcaa.Instant // when anything of the peer last came
	resumed   dcaa.Instant // when something last came behind a silence
	hearsUs   dcaa.Instant // when the peer last said that it hears us
	downAt    dcaa.Instant // when up last became false, or the life began
	beaten    bool         // a heartbeat came over this connection
	doubted   dcaa.Instant // when the peer was held for silent
	doubt     bool
	borne     int64 // silence that is borne at present, beyond what is borne at first; 0 if there is none
	patience  patience
	line      dcaa.Line
}

// Pauses between dials in microseconds.
const (
	firstBackoff = 50_000
	lastBackoff  = 1_000_000
)

func (s *session) begin(now dcaa.Instant, cfg *Settings) {
	s.redial, s.backoff, s.downAt = now, firstBackoff, now
	s.patience = newPatience(cfg)
}

func (h *Host) session(peer world.NodeID) *session {
	if i := h.at[peer]; i >= 0 {
		return &h.sessions[i]
	}
	return nil
}

// dialDue dials a peer that is ours to dial, when it is time.
func (h *Host) dialDue(s *session, now dcaa.Instant) {
	if !s.dial || s.connected || s.dialing || now < s.redial {
		return
	}
	s.dialing = true
	h.W.Dial(s.peer)
}

// Opened notes that a connection stands. Heartbeats decide whether the peer is up.
func (h *Host) Opened(peer world.NodeID) {
	h.notice()
	s := h.session(peer)
	if s == nil {
		return
	}
	if s.connected {
		h.lose(s)
	}
	now := h.Now()
	s.line.Begin()
	s.connected, s.dialing, s.beaten, s.doubt, s.borne = true, false, false, false, 0
	s.heard, s.hearsUs, s.resumed = now, now, now
	s.backoff, s.redial = firstBackoff, now
	h.sendBeat(s, now)
}

// Closed notes that there is no connection.
func (h *Host) Closed(peer world.NodeID, _ world.Closing) {
	h.notice()
	s := h.session(peer)
	if s == nil {
		return
	}
	now := h.Now()
	s.dialing = false
	if s.connected {
		h.lose(s)
		s.redial = now
	} else {
		s.redial = now.Add(s.backoff/2 + h.W.Rand.Int64N(s.backoff/2+1))
		s.backoff = min(2*s.backoff, lastBackoff)
	}
	h.dialDue(s, now)
}

// lose ends everything that went over a connection.
func (h *Host) lose(s *session) {
	s.connected = false
	h.setUp(s, false)
	for i := 0; i < len(h.served); {
		if h.served[i].peer == s.peer {
			h.removeServed(i)
			continue
		}
		i++
	}
	for i := 0; i < len(h.taken); {
		if h.taken[i].peer != s.peer {
			i++
			continue
		}
		t := h.taken[i]
		h.removeTaken(i)
		h.actor.Closed(t.stream, t.conn)
		i = 0 // the actor may have changed the list
	}
}

func (h *Host) setUp(s *session, up bool) {
	if s.up != up {
		s.up, s.downAt = up, h.Now()
		h.actor.Reachable(s.peer, up)
	}
}

// beat is the host's own timer: heartbeats, the watch over peers, dials.
func (h *Host) beat(now dcaa.Instant) {
	late := int64(now - h.ticked)
	h.ticked, h.noticed = now, now
	h.tick = now.Add(h.cfg.Heartbeat)
	for i := range h.sessions {
		s := &h.sessions[i]
		if !s.connected {
			h.dialDue(s, now)
			continue
		}
		h.sendBeat(s, now)
		// If we ourselves were held up, what the peer sent gets one more round.
		if late <= h.cfg.Heartbeat+h.cfg.Heartbeat/2 {
			h.look(s, now)
		}
	}
}

// notice tells the actor that the node stood still, before it is handed anything that arrived meanwhile.
func (h *Host) notice() {
	now := h.Now()
	gap := int64(now - max(h.noticed, h.ticked))
	h.noticed = now
	if gap > h.cfg.Heartbeat*int64(h.cfg.Miss) {
		h.actor.Resumed(gap)
	}
}

// look decides whether a peer is up, and gives a connection up after a long silence.
func (h *Host) look(s *session, now dcaa.Instant) {
	silence, limit := int64(now-s.heard), s.patience.limit(now)
	switch {
	case silence > h.cfg.Abandon:
		h.W.Hang(s.peer)
		h.lose(s)
		s.redial = now
		h.dialDue(s, now)
	case silence > limit || s.deaf(now, limit, h.cfg):
		if s.up {
			s.doubt, s.doubted, s.borne = true, s.heard, 0
		}
		h.setUp(s, false)
	case silence > s.patience.base:
		s.borne = silence
	case s.borne > 0:
		s.patience.passed(s.borne, now)
		s.borne = 0
	}
}

// deaf says whether the peer is heard but has not heard us for too long.
func (s *session) deaf(now dcaa.Instant, limit int64, cfg *Settings) bool {
	return s.beaten && int64(now-s.hearsUs) > limit+2*cfg.Heartbeat+s.line.Way().RoundTrip
}

func (h *Host) sendBeat(s *session, now dcaa.Instant) {
	m := h.W.Send(s.peer, 100, true)
	if m == nil {
		return
	}
	m.Kind = kindBeat
	if int64(now-s.heard) <= s.patience.limit(now) {
		m.Number = 1 // we hear the peer
	}
	m.Line = s.line.Next(now)
	m.Beat = h.actor.Beat(s.peer, m.Beat[:0])
}

// takeBeat takes a heartbeat in.
func (h *Host) takeBeat(s *session, m *world.Message) {
	now := h.Now()
	s.beaten = true
	s.line.Take(now, m.Line, m.Line.Echo > int64(s.resumed) && int64(now-h.ticked) <= 2*h.cfg.Heartbeat && h.W.Waiting(h.ID) == 0)
	if m.Number != 0 {
		s.hearsUs = now
	}
	if !s.up && m.Number != 0 {
		if s.doubt {
			s.doubt = false
			s.patience.refuted(int64(now-s.doubted), now)
		}
		h.setUp(s, true)
	}
	h.actor.Heard(s.peer, m.Beat)
}

// Up reports whether the actor holds a peer for reachable.
func (h *Host) Up(peer world.NodeID) bool {
	s := h.session(peer)
	return s != nil && s.up
}

// Way returns what is known of the way from a peer.
func (h *Host) Way(peer world.NodeID) dcaa.Way {
	if s := h.session(peer); s != nil {
		return s.line.Way()
	}
	return dcaa.Way{}
}

// Away returns for how long a peer has not been up, in microseconds.
func (h *Host) Away(peer world.NodeID) int64 {
	s := h.session(peer)
	if s == nil || s.up {
		return 0
	}
	return int64(h.Now() - s.downAt)
}
