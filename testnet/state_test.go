package testnet

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestClaim: a directory is taken if it is empty or holds what a network has left, which is removed; nothing else is.
func TestClaim(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "net")
	n := &Net{dir: dir, file: "watch.toml"}
	require.NoError(t, n.claim())
	require.ErrorIs(t, (&Net{dir: dir}).claim(), ErrBusy)
	n.daemons = []*daemon{{place: place{id: "north", dir: filepath.Join(dir, "north")}}}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "north", "log"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "watch.toml"), nil, 0o600))
	require.NoError(t, n.release())

	again := &Net{dir: dir, file: "watch.toml", daemons: n.daemons}
	require.NoError(t, again.claim())
	require.NoDirExists(t, filepath.Join(dir, "north"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))
	require.NoError(t, again.release())

	third := &Net{dir: dir}
	require.ErrorContains(t, third.claim(), "notes.txt is not of the testnet", "what somebody else has put there stays")
	require.NoError(t, third.release())
	require.FileExists(t, filepath.Join(dir, "notes.txt"))
}

// TestClaimLeavesStrangersAlone: a directory that no network has left, or a list that leads out of it, is refused.
func TestClaimLeavesStrangersAlone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "mine"), nil, 0o600))
	n := &Net{dir: dir}
	require.ErrorContains(t, n.claim(), "not empty")
	require.NoError(t, n.release())
	require.NoError(t, os.WriteFile(filepath.Join(dir, leftFile), []byte("../elsewhere\n"), 0o600))
	n = &Net{dir: dir}
	require.ErrorContains(t, n.claim(), "no name of a file")
	require.NoError(t, n.release())
	require.FileExists(t, filepath.Join(dir, "mine"))
}
