package p2p

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/wire"
)

// What heartbeats say of the way arrives, from either end, and outlives no session but for what is normal of it.
func TestWay(t *testing.T) {
	north, south := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, north, south)
	a, b := start(t, north, testConfig(), quiet()), start(t, south, testConfig(), quiet())
	require.Equal(t, dcaa.Way{}, a.Way(b.ID()), "nothing is known of a stranger")
	join(t, a, b, "tcp")
	for _, end := range [][2]*node{{a, b}, {b, a}} {
		end[0].rec.wait(t, "a way", func() bool { return end[0].Way(end[1].ID()).RoundTrip > 0 })
		w := end[0].Way(end[1].ID())
		require.Positive(t, w.Calm)
		require.LessOrEqual(t, w.Calm, w.RoundTrip)
		require.Less(t, w.RoundTrip, time.Second.Microseconds())
	}
}

// A heartbeat that spans a silence tells nothing of the way; one that comes late over a way that is quick back does.
func TestGauge(t *testing.T) {
	cfg := Default()
	h := &Host{cfg: cfg, began: time.Now().Add(-time.Hour)}
	l := &link{host: h, patience: newPatience(cfg)}
	s := &session{link: l}
	at := h.began
	// The peer's clock shows a minute when ours shows 1; each way takes 10 ms, and here more as told.
	beat := func(more time.Duration) {
		at = at.Add(cfg.Heartbeat)
		var ours wire.Heartbeat
		s.stamp(&ours, at)
		sent := at.Add(40 * time.Millisecond)
		m := &wire.Heartbeat{Sent: int64(h.clock(sent.Add(time.Minute))), Echo: ours.Sent, Held: 30_000}
		s.gauge(m, sent.Add(10*time.Millisecond+more))
	}
	for range 5 {
		beat(0)
	}
	require.Equal(t, dcaa.Way{RoundTrip: 20_000, Calm: 20_000}, l.line.Way())
	s.resumed.Store(int64(h.since(at.Add(5 * cfg.Heartbeat))))
	for range 3 {
		beat(time.Second)
	}
	require.Equal(t, dcaa.Way{RoundTrip: 20_000, Calm: 20_000}, l.line.Way(), "sent before something came behind a silence")
	s.resumed.Store(0)
	for range 2 {
		beat(30 * time.Millisecond)
	}
	require.Equal(t, dcaa.Way{RoundTrip: 20_000, Calm: 20_000, Late: 30_000}, l.line.Way())
	s.link.line.Begin()
	require.Equal(t, dcaa.Way{}, l.line.Way())
	var m wire.Heartbeat
	s.stamp(&m, at)
	require.Equal(t, int64(20_000), m.Calm, "what is normal is still known")
	require.Zero(t, m.Echo)
}
