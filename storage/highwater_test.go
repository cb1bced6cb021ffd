package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
)

// After any restart the mark covers every id that may have been sent, and costs one write for a block of ids.
func TestHighWater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "HIGHWATER")
	sent := storage.Mark{}
	for _, cover := range []storage.Mark{{Generation: 1, ID: 1}, {Generation: 1, ID: storage.ReserveBlock / 2},
		{Generation: 1, ID: 3 * storage.ReserveBlock}, {Generation: 2, ID: 1}, {Generation: 2, ID: 1 << 63}} {
		h, err := storage.OpenHighWater(path)
		require.NoError(t, err)
		require.Equal(t, sent.Generation, h.Mark().Generation)
		require.GreaterOrEqual(t, h.Mark().ID, sent.ID)
		require.NoError(t, h.Cover(cover))
		require.GreaterOrEqual(t, h.Mark().ID, cover.ID)
		require.Error(t, h.Cover(storage.Mark{Generation: cover.Generation - 1, ID: 1}))
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, h.Cover(storage.Mark{Generation: cover.Generation, ID: cover.ID + 1000}))
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, before, after, "within the block nothing is written")
		sent = cover
		require.NoError(t, h.Close())
	}
}

// A torn write of the mark leaves the one before; two damaged copies are an error, never a smaller mark.
func TestHighWaterDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "HIGHWATER")
	h, err := storage.OpenHighWater(path)
	require.NoError(t, err)
	require.NoError(t, h.Cover(storage.Mark{Generation: 1, ID: 10}))
	first := h.Mark()
	require.NoError(t, h.Cover(storage.Mark{Generation: 1, ID: first.ID + 1}))
	require.NoError(t, h.Close())
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := range 40 { // the newest copy is the first: it was written second
		bad := append([]byte(nil), b...)
		bad[at] ^= 4
		require.NoError(t, os.WriteFile(path, bad, 0o600))
		h, err := storage.OpenHighWater(path)
		require.NoError(t, err)
		require.GreaterOrEqual(t, h.Mark().ID, first.ID)
		require.NoError(t, h.Close())
	}
	bad := append([]byte(nil), b...)
	bad[20] ^= 1
	bad[4096+20] ^= 1
	require.NoError(t, os.WriteFile(path, bad, 0o600))
	_, err = storage.OpenHighWater(path)
	require.ErrorIs(t, err, storage.ErrDamaged)
}
