package admission

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"

	"fednode/node/trust"
)

// house is an organisation with one node and its door.
type house struct {
	id   *trust.Identity
	reg  *trust.Registry
	door *Door
	now  time.Time
}

func build(t testing.TB, org string) *house {
	t.Helper()
	h := &house{now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	d := trust.Dir{Path: filepath.Join(t.TempDir(), org)}
	var err error
	h.id, err = d.Init(trust.Setup{Org: org, Node: "a", Now: h.now, Random: rand.Reader})
	require.NoError(t, err)
	h.reg, err = d.LoadRegistry(trust.DefaultSkew)
	require.NoError(t, err)
	h.door, err = New(Config{Registry: h.reg, Certificate: h.id.Certificate, Now: func() time.Time { return h.now }, PeersPerOrg: 2})
	require.NoError(t, err)
	return h
}

func (h *house) peer() peer.ID { return h.id.Member.Peer }

// greet runs both sides of the exchange.
func greet(t testing.TB, dialler, listener *house) (dialErr, listenErr error) {
	t.Helper()
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	ended := make(chan error, 1)
	go func() { ended <- listener.door.Greet(b, dialler.peer(), false) }()
	dialErr = dialler.door.Greet(a, listener.peer(), true)
	return dialErr, <-ended
}

func TestGreetPartners(t *testing.T) {
	north, south := build(t, "north"), build(t, "south")
	require.NoError(t, north.reg.Trust(south.id.Org))
	require.NoError(t, south.reg.Trust(north.id.Org))
	a, b := greet(t, north, south)
	require.NoError(t, a)
	require.NoError(t, b)
	m, ok := north.door.Member(south.peer())
	require.True(t, ok)
	require.Equal(t, "south/a", m.String())

	// What is no longer trusted is out at the next look, and named with the reason.
	require.NoError(t, north.reg.Untrust("south"))
	out := north.door.Recheck()
	require.ErrorIs(t, out[south.peer()], trust.ErrUntrusted)
	_, ok = north.door.Member(south.peer())
	require.False(t, ok)

	// So is a certificate that expired.
	south.now = south.now.Add(31 * 24 * time.Hour)
	require.ErrorIs(t, south.door.Recheck()[north.peer()], trust.ErrExpired)
	require.Error(t, south.door.SetCertificate(south.id.Certificate), "our own, too")
}

// Trust in one direction only: the listener refuses, the dialler learns the reason; or the dialler refuses.
func TestOneSidedTrust(t *testing.T) {
	north, south := build(t, "north"), build(t, "south")
	require.NoError(t, south.reg.Trust(north.id.Org))
	dial, listen := greet(t, south, north)
	require.ErrorIs(t, listen, trust.ErrUntrusted)
	var refused *RefusedError
	require.ErrorAs(t, dial, &refused)
	require.Contains(t, refused.Reason, "not trusted")
	dial, listen = greet(t, north, south)
	require.ErrorIs(t, dial, trust.ErrUntrusted)
	require.NoError(t, listen, "the hello that never comes tells it")
}

func TestExchangeRefusals(t *testing.T) {
	message := func(version, kind byte, size int, body []byte) []byte {
		b := binary.LittleEndian.AppendUint32([]byte{version, kind}, uint32(size))
		return append(b, body...)
	}
	north := build(t, "north")
	good, err := north.id.Certificate.Marshal()
	require.NoError(t, err)
	cases := map[string][]byte{
		"nothing":         nil,
		"half a header":   {1, 1, 0},
		"another version": message(2, kindShow, 0, nil),
		"too long":        message(1, kindShow, maxMessage+1, nil),
		"cut off":         message(1, kindShow, len(good), good[:len(good)-1]),
		"unknown kind":    message(1, 9, len(good), good),
		"garbage":         message(1, kindShow, 4, []byte("abcd")),
		"empty":           message(1, kindShow, 0, nil),
		"a refusal first": message(1, kindRefuse, 1, []byte("x")),
	}
	for name, bytes := range cases {
		t.Run(name, func(t *testing.T) {
			s := &script{in: *newReader(bytes)}
			err := north.door.Greet(s, north.peer(), false)
			require.Error(t, err)
			require.Equal(t, byte(kindRefuse), s.out.Bytes()[1], "and the other side is told")
			_, ok := north.door.Member(north.peer())
			require.False(t, ok)
		})
	}
}

// script is a peer that has said all it will say.
type script struct {
	in  bytes.Reader
	out bytes.Buffer
}

func newReader(b []byte) *bytes.Reader { return bytes.NewReader(b) }

func (s *script) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *script) Write(p []byte) (int, error) { return s.out.Write(p) }

// Another node's certificate, with a key that is not the one in it, is worth nothing.
func TestCertificateOfAnother(t *testing.T) {
	north := build(t, "north")
	key, err := trust.GenerateKey(trust.RoleNode, "north", rand.Reader)
	require.NoError(t, err)
	id, err := key.Public().PeerID()
	require.NoError(t, err)
	b, err := north.id.Certificate.Marshal()
	require.NoError(t, err)
	require.ErrorIs(t, north.door.check(id, b), trust.ErrIdentity)
	require.ErrorIs(t, north.door.Renew(id, b), trust.ErrIdentity)
}

// A partner can certify any number of nodes; so many are let in.
func TestPeersPerOrganisation(t *testing.T) {
	north := build(t, "north")
	admit := func() (peer.ID, error) {
		key, err := trust.GenerateKey(trust.RoleNode, "north", rand.Reader)
		require.NoError(t, err)
		cert, err := trust.CertifyNode(north.id.Nodes, "n", key.Public(), north.now)
		require.NoError(t, err)
		b, err := cert.Marshal()
		require.NoError(t, err)
		id, err := key.Public().PeerID()
		require.NoError(t, err)
		return id, north.door.check(id, b)
	}
	first, err := admit()
	require.NoError(t, err)
	_, err = admit()
	require.NoError(t, err)
	_, err = admit()
	var proto *ProtocolError
	require.ErrorAs(t, err, &proto)
	north.door.Forget(first)
	north.door.Forget(first)
	_, err = admit()
	require.NoError(t, err, "there is a place again")
}

func TestReasonsAreCleaned(t *testing.T) {
	require.Equal(t, "a [2Jb", printable("a\x1b[2Jb", 100))
	require.Len(t, printable(strings.Repeat("x", 1000), maxReason), maxReason)
}

func FuzzGreet(f *testing.F) {
	north := build(f, "north")
	good, err := north.id.Certificate.Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(binary.LittleEndian.AppendUint32([]byte{1, 1}, uint32(len(good))))
	f.Add([]byte{1, 2, 0, 0, 0, 0})
	other := peer.ID("somebody else")
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &script{in: *newReader(append(b, good...))}
		if err := north.door.Greet(s, other, false); err == nil {
			t.Fatal("admitted without a certificate of its own")
		} else if errors.Is(err, trust.ErrIdentity) && len(b) < headerBytes {
			t.Fatal("a certificate was read from a message without header")
		}
	})
}
