package enginebench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Both sides give the same rows for every query, over windows that end within batches and with few sources and many.
func TestSidesAgree(t *testing.T) {
	for _, c := range []Config{
		{Seed: 1, Records: 40_000, Sources: 60, PerWindow: 9_000, BatchRows: 4096},
		{Seed: 2, Records: 30_000, Sources: 200, PerWindow: 30_000, BatchRows: 512},
	} {
		d := Generate(c)
		for _, q := range Queries() {
			require.NoError(t, compare(q, d, Operators), q.Name)
		}
	}
}

// A result has every figure, and the engine allocates nothing per record.
func TestRun(t *testing.T) {
	d := Generate(Config{Seed: 1, Records: 100_000, Sources: 100, PerWindow: 50_000, BatchRows: 4096})
	for _, q := range Queries() {
		r, err := Run(q, d, Operators, 3)
		require.NoError(t, err)
		require.Equal(t, q.Name, r.Name)
		require.Positive(t, r.NsPerRecord)
		require.Positive(t, r.PlainNsPerRecord)
		require.InDelta(t, r.PlainNsPerRecord/r.NsPerRecord, r.Ratio, 1e-9)
		require.Less(t, r.AllocsPerRecord, 0.05)
	}
}
