package testnet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFlipBytes: three bits of the second half of what is written are flipped, and nothing else.
func TestFlipBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "00001.mem")
	before := append(make([]byte, 0, 1000), "a journal of some length, and zeros behind it"...)
	used := int64(len(before))
	before = before[:1000]
	require.NoError(t, os.WriteFile(path, before, 0o600))
	require.NoError(t, flipBytes(path, used))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	flipped := 0
	for i := range before {
		if before[i] != after[i] {
			flipped++
			require.GreaterOrEqual(t, i, int(used/2))
			require.Less(t, i, int(used))
		}
	}
	require.Equal(t, 3, flipped)
}

// TestSigns: an ambush sees what is written behind the place at which it began.
func TestSigns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, []byte("old sign\x00\x00\x00\x00"), 0o600))
	written, err := writtenAt(path, 8)
	require.NoError(t, err)
	require.False(t, written)
	has, err := logHas(path, 4, "old")
	require.NoError(t, err)
	require.False(t, has)

	require.NoError(t, os.WriteFile(path, []byte("old sign\x00\x00a new sign"), 0o600))
	written, err = writtenAt(path, 8)
	require.NoError(t, err)
	require.True(t, written)
	has, err = logHas(path, 8, "new")
	require.NoError(t, err)
	require.True(t, has)
}
