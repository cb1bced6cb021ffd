package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
	"fednode/node/wire"
)

// undisturbed starts a node with a session, and returns a check that the session never noticed anything.
func undisturbed(t *testing.T) (*node, *person, func()) {
	t.Helper()
	a := found(t, "north", "a")
	n, friend := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "friend"), testConfig(), quiet())
	join(t, n, friend, "tcp")
	return n, a, func() {
		t.Helper()
		require.NoError(t, n.Send(friend.ID(), &wire.Unsubscribe{Subscription: 1}))
		friend.rec.wait(t, "message", func() bool { return len(friend.rec.got) > 0 })
		n.rec.mu.Lock()
		defer n.rec.mu.Unlock()
		require.Equal(t, []string{"up north/friend resumed=false"}, n.rec.lines)
	}
}

// Whatever comes to the port, nothing else notices.
func TestGarbageOnThePort(t *testing.T) {
	n, _, check := undisturbed(t)
	_, port := splitPort(n.at(t, "tcp").Addrs[0].String())
	address := net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}
	for name, text := range map[string]string{
		"http":      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
		"zeros":     string(make([]byte, 64<<10)),
		"long line": strings.Repeat("\xff", 1<<20),
		"nothing":   "",
		"half":      "\x13/multistream/1.0.0\n",
	} {
		c, err := net.DialTCP("tcp", nil, &address)
		require.NoError(t, err, name)
		_, _ = c.Write([]byte(text)) // it may be cut off in the middle
		require.NoError(t, c.SetReadDeadline(time.Now().Add(50*time.Millisecond)))
		_, _ = io.Copy(io.Discard, c)
		require.NoError(t, c.Close())
	}
	udp, err := net.DialUDP("udp", nil, &net.UDPAddr{IP: address.IP, Port: port})
	require.NoError(t, err)
	for size := range 20 {
		_, err := udp.Write(bytes.Repeat([]byte{0xc0}, 60*size))
		require.NoError(t, err)
	}
	require.NoError(t, udp.Close())
	check()
}

// Who shows no certificate that we accept is refused, over both transports, before any protocol runs.
func TestStrangersAreRefused(t *testing.T) {
	n, a, check := undisturbed(t)
	south := found(t, "south", "x")
	require.NoError(t, south.registry.Trust(a.identity.Org)) // it trusts us; we do not trust it
	twin := found(t, "north", "a")                           // same name, other root
	require.Error(t, twin.registry.Trust(a.identity.Org))
	stolen := a.enrol(t, "thief")
	stolen.identity.Certificate = a.enrol(t, "other").identity.Certificate
	for _, kind := range []string{"tcp", "quic"} {
		for name, p := range map[string]*person{"untrusted": south, "impostor": twin, "another's certificate": stolen} {
			t.Run(kind+" "+name, func(t *testing.T) {
				core, logs := observer.New(zap.WarnLevel)
				s := start(t, p, testConfig(), zap.New(core))
				require.NoError(t, s.Dial(n.at(t, kind)))
				require.Eventually(t, func() bool { return logs.Len() > 0 }, patient, time.Millisecond)
				line := logs.All()[0].ContextMap()
				require.Equal(t, "the peer refused us", line["why"], line)
				require.Eventually(t, func() bool { return len(s.Peers()) == 1 && strings.Contains(s.Peers()[0].Cause, "refused us") }, patient, time.Millisecond)
				require.Zero(t, s.rec.count("up"))
				require.Equal(t, 1, logs.Len(), "the same cause is logged once, however often it is tried")
			})
		}
	}
	check()
}

// A libp2p host that knows nothing of certificates gets no connection.
func TestPlainLibp2pIsRefused(t *testing.T) {
	n, _, check := undisturbed(t)
	plain, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
	require.NoError(t, err)
	defer plain.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	target := n.at(t, "tcp")
	require.Error(t, plain.Connect(ctx, peer.AddrInfo{ID: target.Peer, Addrs: target.Addrs}))
	target = n.at(t, "quic")
	if plain.Connect(ctx, peer.AddrInfo{ID: target.Peer, Addrs: target.Addrs}) == nil {
		// Over QUIC the dialling side cannot know yet; it is cut off as it opens its first stream.
		require.Eventually(t, func() bool { return plain.Network().Connectedness(n.ID()) != network.Connected }, patient, time.Millisecond)
	}
	require.NotContains(t, n.Libp2p().Network().Peers(), plain.ID())
	check()
}

// bare is a member that speaks libp2p as we do, and whatever it likes above.
func bare(t *testing.T, p *person) host.Host {
	t.Helper()
	door, err := admission.New(admission.Config{Registry: p.registry, Certificate: p.identity.Certificate, Now: time.Now})
	require.NoError(t, err)
	key, err := p.identity.Key.Libp2p()
	require.NoError(t, err)
	h, err := libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.Transport(tcp.NewTCPTransport),
		libp2p.Security(admission.SecurityID, door.NoiseConstructor()), libp2p.ConnectionGater(door), libp2p.DisableMetrics())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// fake connects to n as a member whose id makes it the one that opens the control stream, and opens it.
func fake(t *testing.T, n *node, p *person) (host.Host, network.Stream) {
	t.Helper()
	for {
		one := p.enrol(t, "fake")
		id, err := one.identity.Key.Public().PeerID()
		require.NoError(t, err)
		if !opens(id, n.ID()) {
			continue
		}
		h := bare(t, one)
		target := n.at(t, "tcp")
		require.NoError(t, h.Connect(t.Context(), peer.AddrInfo{ID: target.Peer, Addrs: target.Addrs}))
		s, err := h.NewStream(t.Context(), n.ID(), ControlProtocol)
		require.NoError(t, err)
		require.NoError(t, s.SetDeadline(time.Now().Add(patient)))
		return h, s
	}
}

func say(t *testing.T, s network.Stream, m wire.Message) {
	t.Helper()
	w, err := wire.NewControlWriter(s)
	require.NoError(t, err)
	if m.Kind() != wire.KindHello {
		w.SetVersion(wire.Version)
	}
	require.NoError(t, w.Write(m))
}

// answers reads messages until the stream ends or the kind comes. Behind the hello they are in the version that is agreed on, and
// in the hello's where nothing could be.
func answers(t *testing.T, s network.Stream, version uint8, kind wire.Kind) wire.Message {
	t.Helper()
	r, err := wire.NewControlReader(s)
	require.NoError(t, err)
	for {
		m, err := r.Read()
		require.NoError(t, err)
		if m.Kind() == kind {
			return m
		}
		if m.Kind() == wire.KindHello {
			r.SetVersion(version)
		}
	}
}

func helloOf(h host.Host, versions ...uint8) *wire.Hello {
	return &wire.Hello{Versions: versions, Incarnation: 1, Node: h.ID().String(), Org: "north", Software: "fake 0"}
}

// Older and newer peers: the highest common version, or a refusal that says which side to upgrade.
func TestVersions(t *testing.T) {
	cases := []struct {
		name     string
		versions []uint8
		remedy   string // "" if there is a common version
	}{
		{"older and like us", []uint8{0, wire.Version}, ""},
		{"newer and like us", []uint8{wire.Version + 2, wire.Version, wire.Version + 1}, ""},
		{"from before the first release", []uint8{1}, "we speak [2], the peer (fake 0) speaks [1]; upgrade the other node"},
		{"only older", []uint8{0}, "upgrade the other node"},
		{"only newer", []uint8{wire.Version + 1, wire.Version + 2}, "upgrade this node"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n, a, check := undisturbed(t)
			h, s := fake(t, n, a)
			say(t, s, helloOf(h, c.versions...))
			if c.remedy == "" {
				answers(t, s, wire.Version, wire.KindHeartbeat)
				require.Equal(t, wire.Version, n.rec.waitUp(t, h.ID()).Version)
				return
			}
			bye := answers(t, s, 1, wire.KindGoodbye).(*wire.Goodbye)
			require.Equal(t, wire.PartingNoVersion, bye.Reason)
			require.Contains(t, bye.Detail, c.remedy)
			check()
		})
	}
}

// A member that breaks the protocol loses its session, with a reason; others notice nothing.
func TestProtocolBreaches(t *testing.T) {
	frame := func(length uint32, version, kind byte, payload string) []byte {
		b := binary.LittleEndian.AppendUint32(nil, length)
		b = append(b, version, kind, 0, 0, 1, 2, 3, 4)
		return append(b, payload...)
	}
	first := map[string][]byte{
		"garbage":      []byte(strings.Repeat("hello?", 1000)),
		"oversized":    frame(1<<31, 1, byte(wire.KindHello), ""),
		"version 9":    frame(3, 9, byte(wire.KindHello), "abc"),
		"unknown kind": frame(3, 1, 200, "abc"),
		"bad checksum": frame(3, 1, byte(wire.KindHello), "abc"),
		"no hello":     encoded(t, &wire.Unsubscribe{Subscription: 1}),
		"another node": encoded(t, &wire.Hello{Versions: []uint8{wire.Version}, Node: "12D3KooWX", Org: "north", Software: "x"}),
		"another org":  encoded(t, &wire.Hello{Versions: []uint8{wire.Version}, Node: "SELF", Org: "south", Software: "x"}),
	}
	for name, bytes := range first {
		t.Run(name, func(t *testing.T) {
			n, a, check := undisturbed(t)
			h, s := fake(t, n, a)
			if name == "another org" {
				bytes = encoded(t, &wire.Hello{Versions: []uint8{wire.Version}, Node: h.ID().String(), Org: "south", Software: "x"})
			}
			_, err := s.Write(bytes)
			require.NoError(t, err)
			version := uint8(1)
			if strings.HasPrefix(name, "another") {
				version = wire.Version // its hello could be read, so that it reads on in the version that both speak
			}
			require.NotEmpty(t, answers(t, s, version, wire.KindError).(*wire.Error).Text)
			check()
		})
	}
	later := map[string][]byte{
		"garbage":      []byte(strings.Repeat("hello?", 1000)),
		"second hello": encoded(t, &wire.Hello{Versions: []uint8{1}, Node: "x", Org: "north", Software: "x"}),
		"attach":       encoded(t, &wire.Attach{Subscription: 1}),
	}
	for name, bytes := range later {
		t.Run("later "+name, func(t *testing.T) {
			n, a, _ := undisturbed(t)
			h, s := fake(t, n, a)
			say(t, s, helloOf(h, wire.Version))
			n.rec.waitUp(t, h.ID())
			_, err := s.Write(bytes)
			require.NoError(t, err)
			require.NotEmpty(t, answers(t, s, wire.Version, wire.KindError).(*wire.Error).Text)
			require.NoError(t, s.Close()) // the answer has come; until then the session waits a moment
			n.rec.waitLine(t, "down north/fake broke the protocol")
			require.Zero(t, n.rec.count("down north/friend"))
		})
	}
}

func encoded(t *testing.T, m wire.Message) []byte {
	t.Helper()
	e, err := newEncoder()
	require.NoError(t, err)
	b, err := e.encode(m)
	require.NoError(t, err)
	return b
}

// The side that should not opens the control stream; a protocol nobody speaks; a data stream without a session.
func TestWrongStreams(t *testing.T) {
	n, a, check := undisturbed(t)
	h, _ := fake(t, n, a)
	s, err := h.NewStream(t.Context(), n.ID(), DataProtocol)
	require.NoError(t, err)
	_, err = s.Read(make([]byte, 1))
	var reset *network.StreamError
	require.ErrorAs(t, err, &reset)
	require.Equal(t, CodeProtocol, reset.ErrorCode)
	_, err = h.NewStream(t.Context(), n.ID(), "/other/1")
	require.Error(t, err)
	check()
}

// Trust that is withdrawn ends the session now, not at the next connection.
func TestUntrustedWhileConnected(t *testing.T) {
	a, b := found(t, "north", "a"), found(t, "south", "b")
	befriend(t, a, b)
	north, south := start(t, a, testConfig(), quiet()), start(t, b, testConfig(), quiet())
	join(t, north, south, "tcp")
	require.NoError(t, a.registry.Untrust("south"))
	north.Recheck()
	north.rec.waitLine(t, "down south/b not admitted")
	south.rec.waitLine(t, "down north/a left")
}

// A renewed certificate reaches connected peers, so that the old one's expiry does not cut the connection.
func TestRenewedCertificate(t *testing.T) {
	a := found(t, "north", "a")
	n, m := start(t, a, testConfig(), quiet()), start(t, a.enrol(t, "b"), testConfig(), quiet())
	join(t, n, m, "tcp")
	before, _ := m.Member(n.ID())
	cert, err := trust.CertifyNode(a.identity.Nodes, "a", a.identity.Key.Public(), time.Now())
	require.NoError(t, err)
	require.NoError(t, n.SetCertificate(cert))
	require.Eventually(t, func() bool {
		now, _ := m.Member(n.ID())
		return now.Issued > before.Issued
	}, patient, time.Millisecond)
	require.Equal(t, 1, m.rec.count("up"))
}

// A used port and a bad configuration are one clear error each.
func TestListenOnUsedPort(t *testing.T) {
	a := found(t, "north", "a")
	n := start(t, a, testConfig(), quiet())
	cfg := testConfig()
	cfg.Listen = []string{n.at(t, "tcp").Addrs[0].String()}
	p := a.enrol(t, "b")
	h, err := New(cfg, Identity{Key: p.identity.Key, Certificate: p.identity.Certificate}, p.registry, newRecorder(), quiet())
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	err = h.Run(ctx)
	require.ErrorContains(t, err, "the port is in use")
}
