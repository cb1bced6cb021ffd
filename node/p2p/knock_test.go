package p2p

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/wire"
)

// detour is a way to a TCP address on which connections get stuck: they exist, and swallow what comes.
type detour struct {
	listener net.Listener
	to       string
	taken    atomic.Int64 // connections so far
	stuck    atomic.Int64 // so many of the first are stuck
	open     atomic.Int64 // connections that stand
	most     atomic.Int64 // at once so far
	tasks    sync.WaitGroup
	ctx      context.Context // ends the ways
}

// newDetour opens a way to a target, and returns the target at its entrance.
func newDetour(t *testing.T, at Target) (*detour, Target) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	d := &detour{listener: l, to: netAddress(t, at), ctx: ctx}
	d.tasks.Go(d.serve)
	t.Cleanup(func() {
		l.Close()
		end()
		d.tasks.Wait()
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	there, err := ParseTarget("/ip4/127.0.0.1/tcp/" + port + "/p2p/" + at.Peer.String())
	require.NoError(t, err)
	return d, there
}

func (d *detour) serve() {
	for {
		c, err := d.listener.Accept()
		if err != nil {
			return
		}
		number := d.taken.Add(1)
		d.most.Store(max(d.most.Load(), d.open.Add(1)))
		other, err := net.Dial("tcp", d.to)
		if err != nil {
			c.Close()
			d.open.Add(-1)
			continue
		}
		d.tasks.Go(func() {
			defer d.open.Add(-1)
			d.pass(number, other, c)
		})
		d.tasks.Go(func() { d.pass(number, c, other) })
	}
}

// pass copies until one side ends. When a stuck connection ends, the other side does not learn it.
func (d *detour) pass(number int64, to, from net.Conn) {
	defer from.Close()
	defer context.AfterFunc(d.ctx, func() { from.Close() })()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		if d.stuck.Load() < number {
			_, failed := to.Write(buf[:n])
			if err != nil || failed != nil {
				to.Close()
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// detoured starts two nodes of which one dials the other over a detour, and which soon take silence for failure.
func detoured(t *testing.T) (n, m *node, d *detour) {
	t.Helper()
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Heartbeat, cfg.Miss, cfg.Abandon = 100*time.Millisecond, 5, time.Hour
	b := a.enrol(t, "b")
	var at Target
	m = start(t, b, cfg, quiet())
	d, at = newDetour(t, m.at(t, "tcp"))
	n = start(t, a, cfg, quiet())
	require.NoError(t, n.Dial(at))
	n.rec.waitUp(t, m.ID())
	m.rec.waitUp(t, n.ID())
	return n, m, d
}

const firstUp = "up north/b resumed=false"

// A connection that carries nothing any more is replaced once a new one is answered, long before it is given up.
func TestStuckConnectionIsReplaced(t *testing.T) {
	n, m, d := detoured(t)
	d.stuck.Store(d.taken.Load())
	n.rec.wait(t, "a second session", func() bool {
		ups := 0
		for _, l := range n.rec.lines {
			if l == firstUp {
				ups++
			}
		}
		return ups > 1
	})
	n.rec.waitUp(t, m.ID())
	sent := &wire.Subscribe{Subscription: 1, Stream: "north/s", Subscriber: "north/a/q/f"}
	require.NoError(t, n.Send(m.ID(), sent))
	m.rec.wait(t, "a message over the new connection", func() bool { return len(m.rec.got) > 0 })
}

// A peer that does not answer to new connections either keeps the one it has: its process may only stand still.
func TestUnansweredKnocks(t *testing.T) {
	n, _, d := detoured(t)
	before := d.taken.Load()
	d.stuck.Store(1 << 40)
	require.Eventually(t, func() bool { return d.taken.Load() > before+3 }, patient, time.Millisecond, "knocks")
	require.Equal(t, 1, n.rec.count(firstUp))
	require.Equal(t, 1, n.rec.count("down north/b"))
}

// A peer that is slow to answer is not knocked at again meanwhile.
func TestKnocksDoNotPileUp(t *testing.T) {
	_, _, d := detoured(t)
	before := d.taken.Load()
	d.stuck.Store(1 << 40)
	require.Eventually(t, func() bool { return d.taken.Load() > before+3 }, patient, time.Millisecond, "knocks")
	// The session, a knock, and one whose end the detour has not seen yet.
	require.LessOrEqual(t, d.most.Load(), before+2)
}

// How long a knock stands in the way of the next one.
func TestKnockWaits(t *testing.T) {
	var none *knock
	require.False(t, none.waits(0, time.Second))
	k := &knock{end: func() {}, done: make(chan struct{})}
	require.True(t, k.waits(99*time.Millisecond, 100*time.Millisecond), "it may still arrive")
	require.False(t, k.waits(100*time.Millisecond, 100*time.Millisecond), "it is lost")
	k.reached.Store(true)
	require.True(t, k.waits(400*time.Millisecond, 100*time.Millisecond), "whom it has reached may be slow")
	close(k.done)
	require.False(t, k.waits(0, 100*time.Millisecond))
	k.stop()
}

// How long a dial may take: little at first, and at most what is configured.
func TestAllowedDial(t *testing.T) {
	p := pauses{cfg: Default().Redial}
	require.Equal(t, 580*time.Millisecond, p.allow(10*time.Millisecond, 10*time.Second))
	require.Equal(t, 705*time.Millisecond, p.allow(10*time.Millisecond, 10*time.Second))
	for range 29 {
		p.allow(0, 10*time.Second)
	}
	// One in four may be slow, the others find the end of a cut.
	require.Equal(t, 10*time.Second, p.allow(time.Millisecond, 10*time.Second))
	for range 3 {
		require.Equal(t, 2008*time.Millisecond, p.allow(time.Millisecond, 10*time.Second))
	}
	require.Equal(t, 10*time.Second, p.allow(time.Millisecond, 10*time.Second))
	p.reset()
	require.Equal(t, 500*time.Millisecond, p.allow(0, 10*time.Second))
}
