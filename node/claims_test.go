package node

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCounts shows whom a restarted fragment goes on waiting for: fragments and sinks of queries that run, while they do,
// and whoever of another organisation was counted.
func TestCounts(t *testing.T) {
	f := threeOrgs(t, nil)
	north := f.nodes["north"].node
	_, err := north.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(filepath.Join(t.TempDir(), "out.csv"), "")), false)
	require.NoError(t, err)
	counts := north.queries.counts()
	require.True(t, counts("north/netmon/suspects", "north/north-1/netmon/out.suspects"))
	require.True(t, counts("south/conns", "north/north-1/netmon/suspects"))
	require.False(t, counts("east/other", "north/north-1/netmon/suspects"), "another stream")
	require.False(t, counts("north/netmon/suspects", "north/north-1/gone/out.suspects"), "another query")
	require.True(t, counts("north/netmon/suspects", "south/south-1/q/f"), "a partner, who may lapse")
	require.NoError(t, north.StopQuery("netmon"))
	require.False(t, north.queries.counts()("north/netmon/suspects", "north/north-1/netmon/out.suspects"), "a stopped query")
}
