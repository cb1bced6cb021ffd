package p2p

import (
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/stretchr/testify/require"

	"fednode/node/wire"
)

// Two organisations, over each transport: up on both sides, messages in order, heartbeats with states.
func TestSessionBetweenPartners(t *testing.T) {
	for _, kind := range []string{"tcp", "quic"} {
		t.Run(kind, func(t *testing.T) {
			a, b := found(t, "north", "a"), found(t, "south", "b")
			befriend(t, a, b)
			north, south := start(t, a, testConfig(), quiet()), start(t, b, testConfig(), quiet())
			south.rec.beats = []wire.StreamStatus{{Name: "south/conns", State: wire.Stable, Generation: 1}}
			join(t, north, south, kind)

			p := north.rec.waitUp(t, south.ID())
			require.Equal(t, "south/b", p.Member.String())
			require.Equal(t, wire.Version, p.Version)
			require.Equal(t, uint64(7), p.Incarnation)

			const messages = 100
			for i := range uint64(messages) {
				require.NoError(t, north.Send(south.ID(), &wire.Unsubscribe{Subscription: i + 1}))
			}
			south.rec.wait(t, "messages", func() bool { return len(south.rec.got) == messages })
			for i, m := range south.rec.got {
				require.Equal(t, &wire.Unsubscribe{Subscription: uint64(i) + 1}, m)
			}
			north.rec.wait(t, "states", func() bool {
				s := north.rec.heard[south.ID()]
				return len(s) == 1 && s[0].Name == "south/conns"
			})
			require.Eventually(t, func() bool {
				st := north.Peers()[0]
				return st.Up && st.RTT > 0 && st.Address != ""
			}, patient, time.Millisecond)

			south.stop()
			north.rec.waitLine(t, "down south/b left")
		})
	}
}

// One port: both transports of "any port" get the same number.
func TestOnePortForBothTransports(t *testing.T) {
	n := start(t, found(t, "north", "a"), testConfig(), quiet())
	require.Len(t, n.Addrs(), 2)
	_, first := splitPort(n.Addrs()[0].String())
	_, second := splitPort(n.Addrs()[1].String())
	require.Equal(t, first, second)
	require.NotZero(t, first)
}

func TestBothDial(t *testing.T) {
	a := found(t, "north", "a")
	first, second := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	require.NoError(t, first.Dial(second.at(t, "")))
	require.NoError(t, second.Dial(first.at(t, "")))
	first.rec.waitUp(t, second.ID())
	second.rec.waitUp(t, first.ID())
	require.Equal(t, 1, first.rec.count("up"))
	require.Equal(t, 1, second.rec.count("up"))
	require.ErrorIs(t, first.Dial(first.at(t, "")), ErrSelf)
}

// A node that cannot be reached dials out only; who opens the control stream does not depend on that.
func TestDialOut(t *testing.T) {
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Dial, cfg.Listen = DialOut, nil
	for range 2 { // with a new identity, ids compare either way sooner or later
		hidden, open := start(t, a.enrol(t, "hidden"), cfg, quiet()), start(t, a.enrol(t, "open"), testConfig(), quiet())
		require.Empty(t, hidden.Addrs())
		join(t, hidden, open, "")
		hidden.stop()
		open.rec.waitLine(t, "down north/hidden left")
		open.stop()
	}
}

func TestSendRefusals(t *testing.T) {
	a := found(t, "north", "a")
	n := start(t, a, testConfig(), quiet())
	stranger := start(t, a.enrol(t, "b"), testConfig(), quiet())
	require.ErrorIs(t, n.Send(stranger.ID(), &wire.Unsubscribe{Subscription: 1}), ErrNotUp)
	join(t, n, stranger, "tcp")
	require.ErrorIs(t, n.Send(stranger.ID(), &wire.Credit{Subscription: 1, Bytes: 1}), ErrReserved)
	require.ErrorIs(t, n.Send(stranger.ID(), &wire.Hello{}), ErrReserved)
	require.Error(t, n.Send(stranger.ID(), &wire.Subscribe{}), "it has no stream name")
	require.NoError(t, n.Send(stranger.ID(), &wire.Unsubscribe{Subscription: 1}), "the session goes on")
}

// A peer that does not take its messages fills its own queue; nobody waits for it.
func TestQueueFull(t *testing.T) {
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Queue = 16
	n, slow := start(t, a, cfg, quiet()), start(t, a.enrol(t, "b"), cfg, quiet())
	join(t, n, slow, "tcp")
	slow.rec.mu.Lock() // its handler now blocks
	release := sync.OnceFunc(slow.rec.mu.Unlock)
	defer release() // or the host never ends
	var refused error
	full := func() bool {
		refused = n.Send(slow.ID(), &wire.Push{Revision: wire.Revision{Query: "q", Writer: "w"}, Descriptor: make([]byte, 500<<10)})
		return refused != nil
	}
	require.Eventually(t, full, patient, time.Millisecond)
	require.ErrorIs(t, refused, ErrQueueFull)
	release()
}

// A restart of the other side: down, then up again without anybody's help.
func TestRedialAfterRestart(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	cfg := testConfig()
	north, south := start(t, a, testConfig(), quiet()), start(t, b, cfg, quiet())
	join(t, north, south, "tcp")
	for _, addr := range south.at(t, "tcp").Addrs {
		cfg.Listen = []string{addr.String()}
	}
	south.stop()
	north.rec.waitLine(t, "down south/b left")
	again := start(t, b, cfg, quiet())
	again.rec.waitUp(t, north.ID())
	north.rec.wait(t, "up again", func() bool { return len(north.rec.lines) >= 3 })
	require.Equal(t, 2, north.rec.count("up south/b"))
}

// The connection breaks in the middle: down with the cause, and up again by itself.
func TestBrokenConnection(t *testing.T) {
	a := found(t, "north", "a")
	n, m := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	join(t, n, m, "tcp")
	for _, c := range n.Libp2p().Network().ConnsToPeer(m.ID()) {
		require.NoError(t, c.CloseWithError(network.ConnErrorCode(42)))
	}
	n.rec.waitLine(t, "down north/b connection ended")
	n.rec.wait(t, "up again", func() bool { return len(n.rec.lines) >= 3 })
}

// A peer that is down keeps its name: who looks after the node must see who it is that is missing.
func TestNameOfPeerThatIsDown(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	north, south := start(t, a, testConfig(), quiet()), start(t, b, testConfig(), quiet())
	join(t, north, south, "tcp")
	south.stop()
	north.rec.waitLine(t, "down south/b left")
	require.Eventually(t, func() bool { return len(north.Libp2p().Network().Conns()) == 0 }, patient, time.Millisecond)
	peers := north.Peers()
	require.Len(t, peers, 1)
	require.False(t, peers[0].Up)
	require.Equal(t, "south/b", peers[0].Member.String())
}
