package member

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"github.com/hashicorp/memberlist"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/node/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patient = time.Minute

// deaf is a p2p handler that does nothing.
type deaf struct{}

func (deaf) PeerUp(p2p.Peer)                                     {}
func (deaf) PeerDown(p2p.Peer, p2p.Cause)                        {}
func (deaf) Control(p2p.Peer, wire.Message)                      {}
func (deaf) Beat(p2p.Peer) []wire.StreamStatus                   { return nil }
func (deaf) Heard(p2p.Peer, []wire.StreamStatus)                 {}
func (deaf) Data(context.Context, p2p.Peer, uint64, *p2p.Stream) {}

// events collects what the membership tells.
type events struct {
	mu     sync.Mutex
	lines  []string
	change chan struct{}
}

func (e *events) note(line string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, line)
	close(e.change)
	e.change = make(chan struct{})
}

func (e *events) MemberJoined(n Node) { e.note("joined " + n.Name) }
func (e *events) MemberUpdated(n Node) {
	e.note("updated " + n.Name + " " + strings.Join(n.Addrs, " "))
}
func (e *events) MemberLeft(n Node) { e.note("left " + n.Name) }

func (e *events) wait(t *testing.T, line string) {
	t.Helper()
	timeout := time.After(patient)
	for {
		e.mu.Lock()
		found, change := slices.ContainsFunc(e.lines, func(l string) bool { return strings.HasPrefix(l, line) }), e.change
		e.mu.Unlock()
		if found {
			return
		}
		select {
		case <-change:
		case <-timeout:
			e.mu.Lock()
			defer e.mu.Unlock()
			t.Fatalf("waited for %q; told so far: %q", line, e.lines)
		}
	}
}

// node is a host with its membership.
type node struct {
	host   *p2p.Host
	member *Membership
	events *events
	stop   func() // both
	crash  func() // the host only, so that nobody is told
}

func (n *node) names() []string {
	var names []string
	for _, m := range n.member.Members() {
		names = append(names, m.Name)
	}
	return names
}

func found(t *testing.T, org string) (*trust.Identity, *trust.Registry) {
	t.Helper()
	d := trust.Dir{Path: filepath.Join(t.TempDir(), org)}
	id, err := d.Init(trust.Setup{Org: org, Node: "n0", Now: time.Now(), Random: rand.Reader})
	require.NoError(t, err)
	reg, err := d.LoadRegistry(trust.DefaultSkew)
	require.NoError(t, err)
	return id, reg
}

func start(t *testing.T, org *trust.Identity, reg *trust.Registry, name string, log *zap.Logger) *node {
	t.Helper()
	return startOver(t, org, reg, name, log, func(h *p2p.Host) Network { return h })
}

// startOver starts a node whose membership uses the host as over says.
func startOver(t *testing.T, org *trust.Identity, reg *trust.Registry, name string, log *zap.Logger, over func(*p2p.Host) Network) *node {
	t.Helper()
	key, err := trust.GenerateKey(trust.RoleNode, org.Org.Name, rand.Reader)
	require.NoError(t, err)
	cert, err := trust.CertifyNode(org.Nodes, name, key.Public(), time.Now())
	require.NoError(t, err)
	cfg := p2p.Default()
	cfg.Listen = p2p.ListenOn("127.0.0.1", 0)
	h, err := p2p.New(cfg, p2p.Identity{Key: key, Certificate: cert, Incarnation: 1}, reg, deaf{}, zap.NewNop())
	require.NoError(t, err)
	e := &events{change: make(chan struct{})}
	addrs := func() []string {
		var list []string
		for _, a := range h.Addrs() {
			list = append(list, a.String())
		}
		return list
	}
	m := New(Config{Probe: 100 * time.Millisecond, Retry: 50 * time.Millisecond}, over(h), Self{Org: org.Org.Name, Name: name, Addrs: addrs}, e, log)
	n := &node{host: h, member: m, events: e}
	hostEnd, memberEnd := run(t, h.Run), func() {}
	require.Eventually(t, func() bool { return len(h.Addrs()) == 2 }, patient, time.Millisecond)
	memberEnd = run(t, m.Run)
	n.crash = hostEnd
	n.stop = func() { memberEnd(); hostEnd() }
	t.Cleanup(n.stop)
	return n
}

// run runs part and returns how to end it; ending it twice does no harm.
func run(t *testing.T, part func(context.Context) error) func() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	return sync.OnceFunc(func() {
		cancel()
		require.NoError(t, <-ended)
	})
}

func dial(t *testing.T, from, to *node) {
	t.Helper()
	target, err := p2p.ParseTarget(to.host.Addrs()[0].String())
	require.NoError(t, err)
	require.NoError(t, from.host.Dial(target))
	from.member.Seed(to.host.ID())
}

// Four nodes that know only the first find each other; one that leaves is gone at once, one that dies soon after; a
// partner's node never belongs.
func TestMembership(t *testing.T) {
	org, reg := found(t, "north")
	partner, partnerReg := found(t, "south")
	require.NoError(t, reg.Trust(partner.Org))
	require.NoError(t, partnerReg.Trust(org.Org))
	nodes := make([]*node, 4)
	for i := range nodes {
		nodes[i] = start(t, org, reg, string(rune('a'+i)), zap.NewNop())
		if i > 0 {
			dial(t, nodes[i], nodes[0])
		}
	}
	stranger := start(t, partner, partnerReg, "x", zap.NewNop())
	dial(t, stranger, nodes[0])
	for i, n := range nodes {
		for j := range nodes {
			if i != j {
				n.events.wait(t, "joined "+string(rune('a'+j)))
			}
		}
	}
	for _, m := range nodes[3].member.Members() {
		require.Len(t, m.Addrs, 2, "the addresses of %s are known", m.Name)
	}
	nodes[1].stop()
	nodes[3].events.wait(t, "left b")
	nodes[2].crash()
	nodes[3].events.wait(t, "left c")
	// A busy machine may have doubted somebody for a moment; what counts is what it comes to.
	require.Eventually(t, func() bool { return slices.Equal(nodes[3].names(), []string{"a"}) }, patient, 10*time.Millisecond)
	require.Empty(t, stranger.names())
	require.NotContains(t, nodes[0].names(), "x")
}

// After a cut that lasted until both sides forgot each other, the seeds bring them together again.
func TestRejoin(t *testing.T) {
	org, reg := found(t, "north")
	a, b := start(t, org, reg, "a", zap.NewNop()), start(t, org, reg, "b", zap.NewNop())
	dial(t, b, a)
	a.events.wait(t, "joined b")
	b.stop()
	a.events.wait(t, "left b")
	again := start(t, org, reg, "b2", zap.NewNop())
	dial(t, again, a)
	a.events.wait(t, "joined b2")
	again.events.wait(t, "joined a")
}

// A partner's node cannot speak the protocols of the gossip.
func TestPartnerIsRefused(t *testing.T) {
	org, reg := found(t, "north")
	partner, partnerReg := found(t, "south")
	require.NoError(t, reg.Trust(partner.Org))
	require.NoError(t, partnerReg.Trust(org.Org))
	a, x := start(t, org, reg, "a", zap.NewNop()), start(t, partner, partnerReg, "x", zap.NewNop())
	dial(t, x, a)
	require.Eventually(t, func() bool { _, ok := x.host.Member(a.host.ID()); return ok }, patient, time.Millisecond)
	ctx := network.WithNoDial(t.Context(), "test")
	var s network.Stream
	require.Eventually(t, func() bool {
		var err error
		s, err = x.host.Libp2p().NewStream(ctx, a.host.ID(), packetProtocol)
		return err == nil
	}, patient, time.Millisecond)
	_, err := s.Read(make([]byte, 1))
	var reset *network.StreamError
	require.ErrorAs(t, err, &reset)
	require.Equal(t, codeRefused, reset.ErrorCode)
	require.Empty(t, a.names())
}

func TestGossipedNodesAreChecked(t *testing.T) {
	_, reg := found(t, "north")
	key, err := trust.GenerateKey(trust.RoleNode, reg.Own(), rand.Reader)
	require.NoError(t, err)
	id, err := key.Public().PeerID()
	require.NoError(t, err)
	d := &delegate{self: Self{Name: "a", Addrs: func() []string { return slices.Repeat([]string{"/ip4/1.2.3.4/tcp/7481"}, 50) }}}
	good := d.NodeMeta(512)
	require.NotEmpty(t, good)
	require.LessOrEqual(t, len(good), 512)
	n, err := readNode(&memberlist.Node{Name: id.String(), Addr: ip(id), Meta: good})
	require.NoError(t, err)
	require.Equal(t, "a", n.Name)
	require.NotEmpty(t, n.Addrs)
	require.Equal(t, map[string]string{}, n.Labels, "it is known that there are none")
	for name, bad := range map[string]*memberlist.Node{
		"name":    {Name: "edge-1", Addr: ip(id), Meta: good},
		"address": {Name: id.String(), Addr: ip(peer.ID("other")), Meta: good},
		"meta":    {Name: id.String(), Addr: ip(id), Meta: []byte{0xff}},
		"no meta": {Name: id.String(), Addr: ip(id)},
	} {
		_, err := readNode(bad)
		require.Error(t, err, name)
	}
}

// Labels are gossiped with the node, unless they would leave no room for an address: then it is not known which it has.
func TestLabelsAreGossiped(t *testing.T) {
	addrs := func() []string { return slices.Repeat([]string{"/ip4/1.2.3.4/tcp/7481"}, 50) }
	for _, c := range []struct{ labels, want map[string]string }{
		{map[string]string{"rack": "a"}, map[string]string{"rack": "a"}},
		{map[string]string{"rack": strings.Repeat("a", 500)}, nil},
	} {
		var m meta
		require.NoError(t, cbor.Unmarshal((&delegate{self: Self{Name: "a", Addrs: addrs, Labels: c.labels}}).NodeMeta(512), &m))
		require.Equal(t, c.want, m.Labels)
		require.NotEmpty(t, m.Addrs)
	}
}

// memberlist changes its nodes after it has told of them; nobody sees that but through what it tells.
func TestWhatIsGossipedIsCopied(t *testing.T) {
	_, reg := found(t, "north")
	key, err := trust.GenerateKey(trust.RoleNode, reg.Own(), rand.Reader)
	require.NoError(t, err)
	id, err := key.Public().PeerID()
	require.NoError(t, err)
	e := &events{change: make(chan struct{})}
	m := &Membership{handler: e, changed: make(chan struct{}, 1), alive: make(map[peer.ID]Node)}
	d := (*delegate)(m)
	d.self = Self{Name: "b", Addrs: func() []string { return nil }}
	n := &memberlist.Node{Name: id.String(), Addr: ip(id), Meta: d.NodeMeta(512)}
	d.NotifyJoin(n)
	n.Meta = nil
	m.tell()
	d.self.Name = "c"
	n.Meta = d.NodeMeta(512)
	m.tell()
	require.Equal(t, []string{"joined b"}, e.lines)
	d.NotifyUpdate(n)
	m.tell()
	d.NotifyLeave(n)
	m.tell()
	require.Equal(t, []string{"joined b", "updated c ", "left c"}, e.lines)
	require.Len(t, m.changed, 1, "whoever tells is woken")
}

// memberlist's lines come out at levels that fit: what it calls an error is a peer that cannot be reached.
func TestLogLevels(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	w := &logWriter{log: zap.New(core)}
	for _, line := range []string{"[DEBUG] memberlist: a", "[INFO] memberlist: b", "[WARN] memberlist: c", "[ERR] memberlist: d", "[ERROR] e", "f"} {
		n, err := w.Write([]byte(line + "\n"))
		require.NoError(t, err)
		require.Equal(t, len(line)+1, n)
	}
	var got []string
	for _, e := range logs.All() {
		got = append(got, e.Level.String()+" "+e.Message)
	}
	require.Equal(t, []string{"debug memberlist: a", "debug memberlist: b", "info memberlist: c", "warn memberlist: d", "warn e", "info f"}, got)
}
