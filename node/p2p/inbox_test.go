package p2p

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/wire"
)

// sessionWith returns n's session with m.
func sessionWith(n, m *node) *session {
	n.Host.mu.Lock()
	l := n.links[m.ID()]
	n.Host.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.current()
}

// A handler that does not return keeps neither the peer's heartbeats from being read nor ours from being sent; what came
// meanwhile is told afterwards, in order, and of the heartbeats the newest.
func TestBusyHandler(t *testing.T) {
	a := found(t, "north", "a")
	n, m := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	n.rec.busy = make(chan struct{})
	release := sync.OnceFunc(func() { close(n.rec.busy) })
	defer release() // or the host never ends
	join(t, m, n, "tcp")
	const messages = 10
	for i := range uint64(messages) {
		require.NoError(t, m.Send(n.ID(), &wire.Unsubscribe{Subscription: i + 1}))
	}
	s := sessionWith(n, m)
	require.Eventually(t, func() bool {
		s.inbox.mu.Lock()
		defer s.inbox.mu.Unlock()
		return s.inbox.messages == messages-1
	}, patient, time.Millisecond, "the handler is busy with the first")

	m.rec.note(func() { m.rec.beats = []wire.StreamStatus{{Name: "north/b", State: wire.Stable, Generation: 1}} })
	n.rec.note(func() { n.rec.beats = []wire.StreamStatus{{Name: "north/a", State: wire.Stable, Generation: 1}} })
	m.rec.wait(t, "a heartbeat of the busy node", func() bool {
		told := m.rec.heard[n.ID()]
		return len(told) == 1 && told[0].Name == "north/a"
	})
	require.Eventually(t, func() bool {
		s.inbox.mu.Lock()
		defer s.inbox.mu.Unlock()
		return s.inbox.due && len(s.inbox.streams) == 1
	}, patient, time.Millisecond, "a heartbeat of the peer has been read")
	require.True(t, n.Peers()[0].Up)

	release()
	n.rec.wait(t, "the messages", func() bool { return len(n.rec.got) == messages })
	for i, got := range n.rec.got {
		require.Equal(t, &wire.Unsubscribe{Subscription: uint64(i) + 1}, got)
	}
	n.rec.wait(t, "the heartbeat", func() bool { return len(n.rec.heard[m.ID()]) == 1 })
	require.Zero(t, n.rec.count("down"))
	require.Zero(t, m.rec.count("down"))
}

// A handler that takes nothing while its inbox is full ends the session after a while, with a cause that names this node;
// the next one begins when it has returned.
func TestOverloaded(t *testing.T) {
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Queue, cfg.Miss, cfg.Abandon = 16, 10, 3*time.Second
	n, m := start(t, a, cfg, quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	n.rec.busy = make(chan struct{})
	release := sync.OnceFunc(func() { close(n.rec.busy) })
	defer release()
	join(t, m, n, "tcp")
	s := sessionWith(n, m)
	var refused error
	require.Eventually(t, func() bool {
		if err := m.Send(n.ID(), &wire.Unsubscribe{Subscription: 1}); err != nil && !errors.Is(err, ErrNotUp) && !errors.Is(err, ErrQueueFull) {
			refused = err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.cause != nil || refused != nil
	}, patient, time.Millisecond)
	require.NoError(t, refused)
	require.Equal(t, CauseOverloaded, s.cause.Kind)
	release()
	n.rec.waitLine(t, "down north/b this node is overloaded")
	n.rec.wait(t, "up again", func() bool { return len(n.rec.up) == 1 })
}

// A doubt that ends before the handler could hear of it leaves no trace; messages count by number and by size.
func TestInbox(t *testing.T) {
	b := newInbox(3)
	b.doubt(Cause{Kind: CauseSilent})
	b.trust()
	require.Empty(t, b.events)
	b.doubt(Cause{Kind: CauseDeaf})
	require.True(t, b.put(&wire.Unsubscribe{Subscription: 1}))
	b.trust()
	b.hear([]wire.StreamStatus{{Name: "old"}})
	b.hear([]wire.StreamStatus{{Name: "new"}})
	require.True(t, b.put(&wire.Push{Descriptor: make([]byte, inboxBytes-2048)}))
	require.False(t, b.put(&wire.Push{Descriptor: make([]byte, 4096)}), "too large beside what waits")
	require.True(t, b.put(&wire.Unsubscribe{Subscription: 2}))
	require.False(t, b.put(&wire.Unsubscribe{Subscription: 3}), "too many")
	b.close()
	var order []string
	for {
		e, streams, ok := b.take()
		if !ok {
			break
		}
		switch {
		case e.doubt != nil:
			order = append(order, e.doubt.Kind.String())
		case e.up:
			order = append(order, "up")
		case e.beat:
			order = append(order, streams[0].Name)
		default:
			order = append(order, e.message.Kind().String())
		}
	}
	kind := (&wire.Unsubscribe{}).Kind().String()
	require.Equal(t, []string{"does not hear us", kind, "up", "new", (&wire.Push{}).Kind().String(), kind}, order)
	require.Zero(t, b.messages)
	require.Zero(t, b.bytes)
}
