package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/stretchr/testify/require"

	"fednode/node/p2p/admission"
	"fednode/node/trust"
)

func TestDefaultIsValid(t *testing.T) { require.NoError(t, Default().Validate()) }

func TestConfigRefusals(t *testing.T) {
	cases := []struct {
		path   string
		change func(*Config)
	}{
		{"listen.p2p", func(c *Config) { c.Listen = []string{"127.0.0.1:7481"} }},
		{"listen.p2p", func(c *Config) { c.Listen = []string{"/ip4/127.0.0.1/tcp/7481/ws"} }},
		{"listen.p2p", func(c *Config) { c.Listen = []string{"/ip4/127.0.0.1/udp/7481"} }},
		{"listen.p2p", func(c *Config) { c.Listen = nil }},
		{"listen.announce", func(c *Config) { c.Announce = []string{"host:1"} }},
		{"federation.dial", func(c *Config) { c.Dial = "in" }},
		{"availability.heartbeat", func(c *Config) { c.Heartbeat = time.Millisecond }},
		{"availability.miss", func(c *Config) { c.Miss = 0 }},
		{"availability.abandon", func(c *Config) { c.Abandon = time.Millisecond }},
		{"federation", func(c *Config) { c.Redial.Max = 0 }},
		{"limits.buffers", func(c *Config) { c.Window = 1 }},
		{"limits", func(c *Config) { c.Limits.PerAddress = 0 }},
		{"limits", func(c *Config) { c.Limits.BytesPerSec = -1 }},
	}
	for _, c := range cases {
		cfg := Default()
		c.change(&cfg)
		require.ErrorContains(t, cfg.Validate(), c.path+": ")
	}
	cfg := Default()
	cfg.Miss, cfg.Dial = 0, ""
	err := cfg.Validate()
	require.ErrorContains(t, err, "availability.miss")
	require.ErrorContains(t, err, "federation.dial", "all at once")
	_, err = New(cfg, Identity{}, nil, nil, nil)
	require.Error(t, err)
}

func TestParseTarget(t *testing.T) {
	const id = "12D3KooWDTqgQX18Wx7B7ozFjGLWWADxDgnJjtiY3xUP6uWDDNDh"
	target, err := ParseTarget("/dns4/edge.example/tcp/7481/p2p/" + id)
	require.NoError(t, err)
	require.Equal(t, id, target.Peer.String())
	for _, bad := range []string{"", "edge:7481", "/ip4/1.2.3.4/tcp/1", "/p2p/" + id, "/ip4/1.2.3.4/tcp/1/p2p/x"} {
		_, err := ParseTarget(bad)
		require.ErrorContains(t, err, "expected /dns4/host/tcp/7481/p2p/ID", bad)
	}
}

func TestTCPComesFirst(t *testing.T) {
	addr := func(s string) ma.Multiaddr {
		a, err := ma.NewMultiaddr(s)
		require.NoError(t, err)
		return a
	}
	quic, tcp := addr("/ip4/10.0.0.1/udp/7481/quic-v1"), addr("/ip4/10.0.0.1/tcp/7481")
	ranked := tcpFirst([]ma.Multiaddr{quic, tcp})
	require.Equal(t, tcp, ranked[0].Addr)
	require.Zero(t, ranked[0].Delay)
	require.Positive(t, ranked[1].Delay)
	require.Zero(t, tcpFirst([]ma.Multiaddr{quic})[0].Delay)
}

func TestTroubleKinds(t *testing.T) {
	for want, err := range map[string]error{
		"the peer refused us": fmt.Errorf("dial: %w", &admission.RefusedError{Reason: "no"}),
		"we refused the peer": &trust.Error{Kind: trust.ErrExpired},
		"no common version":   &VersionError{},
		"not the protocol":    &PeerError{},
		"name not found":      &net.DNSError{},
		"connection refused":  fmt.Errorf("x: %w", syscall.ECONNREFUSED),
		"no answer":           context.DeadlineExceeded,
		"connection failed":   errors.New("else"),
	} {
		require.Equal(t, want, troubleKind(err))
	}
}

func TestCausesPrint(t *testing.T) {
	seen := make(map[string]bool)
	for k := CauseSilent; k <= CauseStopped; k++ {
		seen[k.String()] = true
		require.Equal(t, k.String()+": why", Cause{Kind: k, Err: errors.New("why")}.String())
	}
	require.Len(t, seen, int(CauseStopped))
	require.Equal(t, "unknown", CauseKind(99).String())
}

func TestPrintable(t *testing.T) {
	require.Equal(t, "a b?c", printable("a\x1bb\xffc", 100))
	require.Equal(t, "ää", printable("äää", 5))
}
