package wirebench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkRun prints the report's figures for the usual size.
func BenchmarkRun(b *testing.B) {
	for b.Loop() {
		results, err := Run(b.Context(), Options{})
		require.NoError(b, err)
		for _, r := range results {
			b.Logf("%-18s %6.1f ns/record, plain %5.1f, ratio %.2f; %5.1f M records/s, %.1f B/record, %6.0f MB/s",
				r.Name, r.NsPerRecord, r.PlainNsPerRecord, r.Ratio, r.RecordsPerSec/1e6, r.BytesPerRecord, r.MBPerSec)
		}
	}
}
