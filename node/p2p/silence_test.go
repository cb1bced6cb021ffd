package p2p

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/stretchr/testify/require"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
	"fednode/node/wire"
)

// nervous starts a node that soon takes silence for failure, and a fake member that is up and then only speaks when the
// test says so.
func nervous(t *testing.T, abandon time.Duration) (*node, network.Stream) {
	t.Helper()
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Heartbeat, cfg.Miss, cfg.Abandon = 50*time.Millisecond, 3, abandon
	n := start(t, a, cfg, quiet())
	h, s := fake(t, n, a)
	say(t, s, helloOf(h, wire.Version))
	// By the time that we look it may be down again.
	n.rec.waitLine(t, "up north/fake resumed=false")
	return n, s
}

// A peer that falls silent is down, and up again when it is heard: the session and its streams were never gone. After a
// refuted suspicion the node is more patient with it.
func TestSilenceAndReturn(t *testing.T) {
	n, s := nervous(t, time.Minute)
	n.rec.waitLine(t, "down north/fake silent")
	before := n.Peers()[0]
	require.False(t, before.Up)
	require.Equal(t, "silent", before.Cause)
	beat := &wire.Heartbeat{HeardBy: []string{n.ID().String()}}
	say(t, s, beat)
	n.rec.waitLine(t, "up north/fake resumed=true")
	after := n.Peers()[0]
	require.Equal(t, uint64(1), after.Flaps)
	require.Greater(t, after.Limit, before.Limit)
}

// Silence for long: the connection is given up. A node that was held up itself may notice only then.
func TestAbandoned(t *testing.T) {
	n, s := nervous(t, 300*time.Millisecond)
	require.Eventually(t, func() bool { return s.Conn().IsClosed() }, patient, time.Millisecond)
	n.rec.waitLine(t, "down north/fake given up after silence")
	for i, line := range n.rec.told() {
		require.Equal(t, i == 0, line == "up north/fake resumed=false", line)
		require.Equal(t, i > 0, strings.HasPrefix(line, "down north/fake "), line)
	}
}

// Heard, but not hearing us: down as well, with its own cause.
func TestDeafPeer(t *testing.T) {
	n, s := nervous(t, time.Minute)
	ctx, cancel := context.WithCancel(t.Context())
	spoken := make(chan error, 1)
	go func() {
		w, err := wire.NewControlWriter(s)
		w.SetVersion(wire.Version)
		for err == nil && pause(ctx, 10*time.Millisecond) {
			err = w.Write(&wire.Heartbeat{})
		}
		spoken <- err
	}()
	n.rec.waitLine(t, "down north/fake does not hear us")
	cancel()
	require.NoError(t, take(t, spoken, "the last heartbeat"))
	say(t, s, &wire.Heartbeat{HeardBy: []string{n.ID().String()}})
	n.rec.waitLine(t, "up north/fake resumed=true")
}

func TestPatience(t *testing.T) {
	cfg := Default()
	p := newPatience(cfg)
	now := time.Unix(1000, 0)
	require.Equal(t, 300*time.Millisecond, p.limit(now))
	p.passed(400*time.Millisecond, now)
	require.Equal(t, 1200*time.Millisecond, p.limit(now))
	p.passed(350*time.Millisecond, now)
	require.Equal(t, 1200*time.Millisecond, p.limit(now), "it does not fall by a shorter silence")
	require.Equal(t, 750*time.Millisecond, p.limit(now.Add(time.Minute)), "half of what was added")
	require.Equal(t, 300*time.Millisecond, p.limit(now.Add(time.Hour)))
	p.passed(300*time.Millisecond, now.Add(time.Hour))
	require.Equal(t, 300*time.Millisecond, p.limit(now.Add(time.Hour)), "that was none to bear")
	p.passed(time.Second, now)
	require.Equal(t, longest, p.limit(now), "never beyond the longest")
	require.True(t, p.mistaken(time.Second))
	require.False(t, p.mistaken(1001*time.Millisecond), "it was away")
	cfg.Abandon = 2 * time.Second
	p = newPatience(cfg)
	p.passed(time.Second, now)
	require.Equal(t, time.Second, p.limit(now), "never beyond half of abandon")
	cfg.Abandon, cfg.Heartbeat = time.Minute, time.Second
	p = newPatience(cfg)
	require.True(t, p.mistaken(6*time.Second))
	p.passed(4*time.Second, now)
	require.Equal(t, 6*time.Second, p.limit(now), "never beyond twice what is borne at first, if that is more")
}

// What the silence of one node of another organisation shows holds for all of them, and for nobody else.
func TestPatienceOfLines(t *testing.T) {
	cfg, now := Default(), time.Unix(1000, 0)
	h := &Host{cfg: cfg, lines: lines{own: "north"}}
	to := func(org string) *link {
		return &link{host: h, patience: newPatience(cfg), member: trust.Member{Org: org}}
	}
	first, second, other, own, sister, unknown := to("south"), to("south"), to("east"), to("north"), to("north"), to("")
	first.refuted(400*time.Millisecond, now)
	own.refuted(400*time.Millisecond, now)
	unknown.refuted(400*time.Millisecond, now)
	require.Equal(t, 1200*time.Millisecond, first.limit(now))
	require.Equal(t, 1200*time.Millisecond, second.limit(now))
	require.Equal(t, 1200*time.Millisecond, own.limit(now))
	require.Equal(t, 1200*time.Millisecond, unknown.limit(now))
	for _, l := range []*link{other, sister, to("")} {
		require.Equal(t, 300*time.Millisecond, l.limit(now))
	}
	first.refuted(2*time.Second, now)
	require.Equal(t, 1200*time.Millisecond, second.limit(now), "it was away")
	require.EqualValues(t, 2, first.patience.flaps)
	require.Zero(t, second.patience.flaps)
	second.passed(450*time.Millisecond, now)
	require.Equal(t, 1350*time.Millisecond, first.limit(now))
	require.EqualValues(t, 2, first.patience.flaps, "what is borne is no suspicion")
}

// A fifth of all heartbeats lost, for a minute, a thousand times over: a first suspicion comes when four in a row are lost,
// and once it was refuted hardly ever a second.
func TestPatienceUnderLoss(t *testing.T) {
	const minutes, heartbeats, every = 1000, 600, 100 * time.Millisecond
	suspicions := make(map[int]int) // minutes, by how many there were
	for seed := range uint64(minutes) {
		lost := rand.New(rand.NewPCG(seed, 0))
		p := newPatience(Default())
		now := time.Unix(0, 0)
		heard, down := now, false
		for range heartbeats {
			now = now.Add(every)
			if silence := now.Sub(heard); !down && silence > p.limit(now) {
				down = true
			}
			if lost.IntN(5) == 0 {
				continue
			}
			if down {
				p.flaps++
				p.passed(now.Sub(heard), now)
				down = false
			}
			heard = now
		}
		suspicions[int(p.flaps)]++
	}
	require.Greater(t, suspicions[1], minutes/2, "%v", suspicions)
	require.GreaterOrEqual(t, suspicions[0]+suspicions[1], minutes*97/100, "%v", suspicions)
	require.Equal(t, minutes, suspicions[0]+suspicions[1]+suspicions[2], "%v", suspicions)
}

func TestPauses(t *testing.T) {
	p := pauses{cfg: Backoff{Min: 400 * time.Millisecond, Max: time.Second}}
	for _, bound := range []time.Duration{400, 500, 625, 781, 976, 1000, 1000} {
		got := p.draw(p.cfg.Max)
		require.GreaterOrEqual(t, got, bound*time.Millisecond/2)
		require.LessOrEqual(t, got, (bound+1)*time.Millisecond)
	}
	p.reset()
	require.LessOrEqual(t, p.draw(p.cfg.Max), 400*time.Millisecond)
	for range 10 {
		p.draw(p.cfg.Max)
	}
	require.LessOrEqual(t, p.draw(500*time.Millisecond), 500*time.Millisecond, "whoever it is that does not answer now")
}

// A peer that answers to no dial is found soon when it is back, and many of them are not dialled all the time.
func TestPausesOfMany(t *testing.T) {
	b := Default().Redial
	for away, longest := range map[int]time.Duration{0: 1, 1: 1, 20: 1, 40: 2, 100: 5, 1000: 15} {
		require.Equal(t, longest*time.Second, b.sooner(away), "%d away", away)
	}
	const outage = 10 * time.Minute
	p := pauses{cfg: b}
	for at := time.Duration(0); at < outage; {
		pause, trial := p.draw(b.sooner(3)), p.allow(time.Millisecond, Default().DialTimeout)
		require.LessOrEqual(t, pause, time.Second)
		at += pause + trial
	}
}

// While dials fail the cause is logged once; a peer that moved is found at once, whatever the pause had become.
func TestPeerMoves(t *testing.T) {
	a := found(t, "north", "a")
	cfg := testConfig()
	cfg.Redial = Backoff{Min: time.Hour, Max: time.Hour}
	n, m := start(t, a, cfg, quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	gone := Target{Peer: m.ID()}
	for _, text := range []string{"/ip4/127.0.0.1/tcp/1"} {
		one, err := ParseTarget(text + "/p2p/" + m.ID().String())
		require.NoError(t, err)
		gone.Addrs = one.Addrs
	}
	require.NoError(t, n.Dial(gone))
	require.Eventually(t, func() bool { return n.Peers()[0].Cause != "" }, patient, time.Millisecond)
	require.Contains(t, n.Peers()[0].Cause, "connection refused")
	require.NoError(t, n.Dial(m.at(t, "tcp")))
	n.rec.waitUp(t, m.ID())
}

// Many starts and stops leave nothing behind at the other side.
func TestManyRestarts(t *testing.T) {
	a := found(t, "north", "a")
	n := start(t, a, testConfig(), quiet())
	p := a.enrol(t, "b")
	restarts := 50
	if testing.Short() {
		restarts = 10
	}
	for range restarts {
		m := start(t, p, testConfig(), quiet())
		join(t, m, n, "tcp")
		m.stop()
		n.rec.wait(t, "down", func() bool { return len(n.rec.up) == 0 })
	}
	require.Eventually(t, func() bool { return len(n.Peers()) == 0 && len(n.Libp2p().Network().Conns()) == 0 }, patient, time.Millisecond)
}

// The exchange does not wait for ever for a peer that connects and says nothing.
func TestSilentKnocker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := found(t, "north", "a")
		door, err := admission.New(admission.Config{Registry: a.registry, Certificate: a.identity.Certificate, Now: time.Now})
		require.NoError(t, err)
		ours, theirs := net.Pipe()
		defer theirs.Close()
		require.NoError(t, ours.SetDeadline(time.Now().Add(5*time.Second)))
		begin := time.Now()
		require.Error(t, door.Greet(ours, a.identity.Member.Peer, false))
		require.Equal(t, 5*time.Second, time.Since(begin))
	})
}

// What was learned of an organisation's line goes with time, and with it the organisation.
func TestLinesForget(t *testing.T) {
	cfg, now := Default(), time.Unix(1000, 0)
	l := lines{own: "north"}
	for n := range 1000 {
		l.passed(fmt.Sprintf("org%d", n), time.Second, now, cfg)
		now = now.Add(time.Minute)
	}
	require.Less(t, len(l.of), 50)
	require.Positive(t, l.limit("org999", now))
}
