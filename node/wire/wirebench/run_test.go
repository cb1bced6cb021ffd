package wirebench

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line is measured, sane, and comes in a fixed order.
func TestRun(t *testing.T) {
	results, err := Run(context.Background(), Options{Batches: 16, Rounds: 3})
	require.NoError(t, err)
	var names []string
	for _, r := range results {
		names = append(names, r.Name)
		require.Equal(t, 16*4096, r.Records)
		require.Positive(t, r.NsPerRecord)
		require.InEpsilon(t, r.PlainNsPerRecord/r.NsPerRecord, r.Ratio, 0.01)
		require.Less(t, r.BytesPerRecord, 60.0)
		line, err := json.Marshal(r)
		require.NoError(t, err)
		t.Logf("%s", line)
	}
	require.Equal(t, []string{"in process", "in process, lz4", "in process, zstd", "loopback TCP"}, names)
}
