package p2p

import (
	"net"
	"strconv"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

// reserve returns the configuration of a node that listens on a TCP port that is free now, and where that is.
func reserve(t *testing.T, p *person) (Config, Target) {
	t.Helper()
	cfg := testConfig()
	m := start(t, p, cfg, quiet())
	at := m.at(t, "tcp")
	cfg.Listen = []string{at.Addrs[0].String()}
	m.stop()
	return cfg, at
}

// A peer that could not be reached is dialled at once when somebody says again where it is, however long the pause has
// become: at the same address, too.
func TestDialAgain(t *testing.T) {
	a := found(t, "north", "a")
	b := a.enrol(t, "b")
	cfg := testConfig()
	cfg.Redial = Backoff{Min: time.Hour, Max: time.Hour}
	n := start(t, a, cfg, quiet())
	theirs, at := reserve(t, b)
	require.NoError(t, n.Dial(at))
	require.Eventually(t, func() bool { return n.Peers()[0].Cause != "" }, patient, time.Millisecond)
	require.Contains(t, n.Peers()[0].Cause, "connection refused")
	m := start(t, b, theirs, quiet())
	require.NoError(t, n.Dial(at))
	n.rec.waitUp(t, m.ID())
}

// While dials fail, the log has each cause once, not each try; when the peer has been up since, the same cause is news.
func TestCauseIsLoggedOnce(t *testing.T) {
	core, logs := observer.New(zap.DebugLevel)
	a := found(t, "north", "a")
	b := a.enrol(t, "b")
	n := start(t, a, testConfig(), zap.New(core))
	theirs, at := reserve(t, b)
	const again = "no session with the peer" // each further try, for who debugs
	const first = again + "; trying again"
	tries := func(want int) {
		t.Helper()
		seen := logs.FilterMessage(again).Len()
		require.Eventually(t, func() bool { return logs.FilterMessage(again).Len() >= seen+want }, patient, time.Millisecond)
	}
	causes := func() (why []string) {
		for _, e := range logs.FilterMessage(first).All() {
			why = append(why, e.ContextMap()["why"].(string))
		}
		return why
	}
	require.NoError(t, n.Dial(at))
	tries(5)
	require.Equal(t, []string{"connection refused"}, causes())

	// Something else listens there, which hangs up.
	l, err := net.Listen("tcp", netAddress(t, at))
	require.NoError(t, err)
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	require.Eventually(t, func() bool { return len(causes()) > 1 }, patient, time.Millisecond)
	tries(5)
	require.Equal(t, []string{"connection refused", "connection failed"}, causes())
	require.NoError(t, l.Close())
	require.Eventually(t, func() bool { return len(causes()) > 2 }, patient, time.Millisecond)

	m := start(t, b, theirs, quiet())
	n.rec.waitUp(t, m.ID())
	known := len(causes())
	m.stop()
	require.Eventually(t, func() bool { return len(causes()) > known }, patient, time.Millisecond)
}

// netAddress is a target's address as package net writes it.
func netAddress(t *testing.T, at Target) string {
	t.Helper()
	ip, err := at.Addrs[0].ValueForProtocol(ma.P_IP4)
	require.NoError(t, err)
	_, port := splitPort(at.Addrs[0].String())
	return net.JoinHostPort(ip, strconv.Itoa(port))
}
