package bench_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage/bench"
)

// A small run gives every line with sensible figures and leaves the directory empty.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	got, err := bench.Log(context.Background(), dir, bench.Config{Records: 1000, Singles: 5, Group: 64, Rounds: 3, Badger: true})
	require.NoError(t, err)
	var names []string
	for _, r := range got {
		names = append(names, r.Name)
		require.Positive(t, r.NsPerRecord)
		require.Positive(t, r.PlainNsPerRecord)
		require.InEpsilon(t, r.PlainNsPerRecord/r.NsPerRecord, r.Ratio, 1e-9)
	}
	require.Equal(t, []string{"log_append_1KiB_groups_of_64_synced", "log_append_1KiB_one_by_one_synced",
		"badger_append_1KiB_groups_of_64_synced", "badger_append_1KiB_one_by_one_synced"}, names)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left)
	text, err := json.Marshal(got[0])
	require.NoError(t, err)
	require.Contains(t, string(text), `"ratio":`)
}

func TestConfigBounds(t *testing.T) {
	_, err := bench.Log(context.Background(), t.TempDir(), bench.Config{Group: 100_000})
	require.ErrorContains(t, err, "group 100000; want 1 to 65536")
	_, err = bench.Log(context.Background(), t.TempDir(), bench.Config{RecordBytes: 128 << 10, Group: 65_536})
	require.ErrorContains(t, err, "at most 256 MiB")
	_, err = bench.Log(context.Background(), "/does/not/exist", bench.Config{})
	require.ErrorContains(t, err, "no such file or directory")
}
