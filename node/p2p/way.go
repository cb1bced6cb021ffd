package p2p

import (
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"fednode/dcaa"
	"fednode/node/wire"
)

// since is how long after the host was made a time is, in nanoseconds. Unlike the time of day it does not move when the
// machine's clock is set: that would look like a silence of every peer at once.
func (h *Host) since(t time.Time) time.Duration { return t.Sub(h.began) }

// clock shows microseconds since the host was made, and one: heartbeats are stamped by it.
func (h *Host) clock(t time.Time) dcaa.Instant { return instant(h.since(t)) }

func instant(since time.Duration) dcaa.Instant { return dcaa.Instant(since.Microseconds() + 1) }

// Way returns what heartbeats tell of the way from a peer; the zero Way if they have told nothing.
func (h *Host) Way(p peer.ID) dcaa.Way {
	l := h.find(p)
	if l == nil {
		return dcaa.Way{}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.line.Way()
}

// stamp completes a heartbeat that is about to be sent.
func (s *session) stamp(m *wire.Heartbeat, now time.Time) {
	s.link.mu.Lock()
	b := s.link.line.Next(s.link.host.clock(now))
	s.link.mu.Unlock()
	m.Sent, m.Echo, m.Held, m.Calm = b.Sent, b.Echo, b.Held, b.Calm
}

// gauge takes in what a heartbeat tells of the way. One whose round trip spans a silence measures that, and nothing of the way.
func (s *session) gauge(m *wire.Heartbeat, now time.Time) {
	h := s.link.host
	sound := m.Echo > int64(instant(time.Duration(s.resumed.Load())))
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	s.link.line.Take(h.clock(now), dcaa.Beat{Sent: m.Sent, Echo: m.Echo, Held: m.Held, Calm: m.Calm}, sound)
}
