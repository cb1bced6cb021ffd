package p2p

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/stretchr/testify/require"
)

// knocks opens connections from an address until one is refused, at most n.
func knocks(t *testing.T, r network.ResourceManager, address string, n int) (open []network.ConnManagementScope) {
	t.Helper()
	for range n {
		from, err := ma.NewMultiaddr(address)
		require.NoError(t, err)
		c, err := r.OpenConnection(network.DirInbound, true, from)
		if err != nil {
			return open
		}
		open = append(open, c)
	}
	return open
}

// Loopback is exempt from the limits per address, so they are tested at the manager itself.
func TestConnectionsPerAddress(t *testing.T) {
	l := Default().Limits
	l.PerAddress, l.NewPerSecond = 24, 100
	r, err := newResources(l)
	require.NoError(t, err)
	defer r.Close()
	site := knocks(t, r, "/ip4/10.50.0.1/tcp/4001", 100)
	require.Len(t, site, 24, "a site of many nodes behind one address, and no more than that")
	require.Len(t, knocks(t, r, "/ip4/10.50.0.2/tcp/4001", 1), 1, "another address is not affected")
	site[0].Done()
	require.Len(t, knocks(t, r, "/ip4/10.50.0.1/tcp/4002", 1), 1, "a place that became free")
	require.Len(t, knocks(t, r, "/ip6/fd00:1::1/tcp/4001", 100), 24)
	require.Empty(t, knocks(t, r, "/ip6/fd00:1:0:5::9/tcp/4001", 1), "IPv6 counts by /56")
}

func TestNewConnectionsPerSecond(t *testing.T) {
	l := Default().Limits
	l.PerAddress, l.NewPerSecond = 1000, 5
	r, err := newResources(l)
	require.NoError(t, err)
	defer r.Close()
	got := len(knocks(t, r, "/ip4/10.50.0.1/tcp/4001", 200))
	require.GreaterOrEqual(t, got, 20, "a burst of four seconds")
	require.Less(t, got, 60)
}

func TestConnectionsInAll(t *testing.T) {
	l := Default().Limits
	l.Connections, l.PerAddress = 40, 40
	r, err := newResources(l)
	require.NoError(t, err)
	defer r.Close()
	open := 0
	for i := range 60 {
		open += len(knocks(t, r, fmt.Sprintf("/ip4/10.50.0.%d/tcp/4001", i+1), 1))
	}
	require.LessOrEqual(t, open, 40)
	require.GreaterOrEqual(t, open, 30)
}
