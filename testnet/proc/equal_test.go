package proc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// TestProcessEqualsRun: what three daemons find in a file dealt out to them is what one process finds in the file.
func TestProcessEqualsRun(t *testing.T) {
	data, query := connections(t, 1, 200_000), filepath.Join("testdata", "netmon.toml")
	want := queryRun(t, query, data, []string{"suspects", "per_source"})
	s := testnet.Default()
	s.Query, s.Data = query, []string{data}
	net := up(t, s, nil)
	awaitView(t, net, "all data are through", done)
	for _, o := range []string{"suspects.csv", "per_source.csv"} {
		require.Equal(t, sum(t, filepath.Join(want, o)), sum(t, homeFile(net, o)), o)
	}
	info, err := os.Stat(homeFile(net, "suspects.csv"))
	require.NoError(t, err)
	require.Greater(t, info.Size(), int64(500), "there is something to find")
}
