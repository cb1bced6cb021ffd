package pairbench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// The source never goes back in time, and goes on from any position with the batch that follows.
func TestRecords(t *testing.T) {
	source := newRecords()
	open := func(pos []byte) connect.Reader {
		r, err := source.Open(t.Context(), pos)
		require.NoError(t, err)
		return r
	}
	r, last := open(nil), tuple.Time(0)
	for n := range 2*batches + 3 {
		b, err := r.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, connect.DefaultBlockRows, b.Batch.Rows())
		for i, at := range b.Batch.Time {
			require.GreaterOrEqual(t, at, last, "batch %d, row %d", n, i)
			require.Equal(t, int64(at), b.Batch.Cols[0].Int[i])
			last = at
		}
		if n%batches == batches-1 {
			next, err := open(b.Pos).Next(t.Context())
			require.NoError(t, err)
			require.Greater(t, next.Batch.Time[0], last, "a later pass begins after the earlier one")
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := r.Next(ended)
	require.ErrorIs(t, err, context.Canceled)
	_, err = source.Open(t.Context(), []byte{0xff})
	require.Error(t, err, "a damaged position")
}

// A command that cannot be a daemon is an error that says what it said.
func TestRunWithoutDaemon(t *testing.T) {
	_, err := Run(t.Context(), Options{Dir: t.TempDir(), Giver: []string{"sh", "-c", "echo not today; exit 3"}, Taker: []string{"true"}, Records: 1, Runs: 1})
	require.ErrorIs(t, err, errEnded)
	require.ErrorContains(t, err, "not today")
	require.ErrorContains(t, err, "exit status 3")
}

func TestMedians(t *testing.T) {
	got := medians([]Result{{RecordsPerSecond: 3, GiverNsPerRecord: 1, TakerNsPerRecord: 9}, {RecordsPerSecond: 1, GiverNsPerRecord: 5, TakerNsPerRecord: 8},
		{RecordsPerSecond: 2, GiverNsPerRecord: 4, TakerNsPerRecord: 7}})
	require.Equal(t, Result{RecordsPerSecond: 2, GiverNsPerRecord: 4, TakerNsPerRecord: 8, Slowest: 1, Fastest: 3}, got)
}
