package storage_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
	"fednode/storage/storetest"
)

// BenchmarkSave stores recovery points of snapshots that do not compress.
func BenchmarkSave(b *testing.B) {
	for _, size := range []int{10_000, 1_000_000, 20_000_000} {
		b.Run(fmt.Sprintf("bytes=%d", size), func(b *testing.B) {
			points, err := storage.NewRecoveryPoints(openStore(b, b.TempDir()))
			require.NoError(b, err)
			p := storetest.Point("q", 1, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				require.NoError(b, points.Save(p, nil))
			}
		})
	}
}
