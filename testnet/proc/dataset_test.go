package proc

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// TestProcessDataSets: over public data sets, dealt out to three daemons, the network-monitoring query finds exactly what
// other programs found.
func TestProcessDataSets(t *testing.T) {
	data, ok := dataDir(t)
	if !ok {
		return
	}
	for _, c := range []struct{ name, query, data, expected string }{
		{"rita", "netmon-zeek.toml", "net-rita-exposed-host/data/*/*.log.gz", "net-rita-exposed-host/expected"},
		{"argus test2", "netmon-argus.toml", "net-argus-ctu/data/test2-malicious.binetflow", "net-argus-ctu/expected/test2-malicious"},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(data, c.data))
			require.NoError(t, err)
			require.NotEmpty(t, files)
			slices.Sort(files)
			s := testnet.Default()
			s.Query, s.Data = filepath.Join("..", "dataset", "testdata", c.query), files
			net := up(t, s, nil)
			awaitView(t, net, time.Minute, "all data are through", done)
			want := sums(t, filepath.Join(data, c.expected, "SHA256SUMS.uncompressed"))
			for _, o := range []string{"per_window_src.csv", "active.csv", "scanning.csv", "both.csv"} {
				require.NotEmpty(t, want[o], o)
				require.Equal(t, want[o], sum(t, homeFile(net, o)), o)
			}
		})
	}
}

// dataDir returns the folder of the public data sets; ok is false, and the log says so, where they are not at hand.
func dataDir(t *testing.T) (dir string, ok bool) {
	dir = os.Getenv("FEDNODE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Log("the public data sets are not here: nothing was compared; set FEDNODE_DATA to their folder")
		return "", false
	}
	return dir, true
}

// sums reads a SHA256SUMS file: the hash of each file by name.
func sums(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	out := make(map[string]string)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if hash, name, ok := strings.Cut(lines.Text(), " "); ok {
			out[filepath.Base(strings.TrimLeft(name, " *"))] = hash
		}
	}
	return out
}
