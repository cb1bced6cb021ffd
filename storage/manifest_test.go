package storage_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
	"fednode/storage/storetest"
)

// filled makes a store of several tables. If killed, it is as one is left whose process has been killed.
func filled(t *testing.T, killed bool) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var s *storage.Store
	for n := range uint64(4) {
		s = openStore(t, dir)
		points, err := storage.NewRecoveryPoints(s)
		require.NoError(t, err)
		require.NoError(t, points.Save(storetest.Point(fmt.Sprint("q", n), n+1, 10_000), nil))
		if !killed || n < 3 {
			require.NoError(t, s.Close())
		}
	}
	if killed {
		left := t.TempDir()
		require.NoError(t, os.CopyFS(left, os.DirFS(dir)))
		return left
	}
	return dir
}

// files are the engine's files by name, of which those that are written anew all the time have no content.
func files(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "kv", "*"))
	require.NoError(t, err)
	out := make(map[string][]byte)
	for _, path := range found {
		if ext := filepath.Ext(path); ext == ".mem" || ext == ".vlog" {
			out[filepath.Base(path)] = nil
			continue
		}
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		out[filepath.Base(path)] = b
	}
	return out
}

// refused checks that a store is not opened, that the error says what to do, and that nothing has been changed.
func refused(t *testing.T, dir, name string) {
	t.Helper()
	before := files(t, dir)
	s, err := storage.Open(dir, storage.Options{})
	if err == nil {
		_ = s.Close()
	}
	require.ErrorIs(t, err, storage.ErrDamaged, name)
	require.ErrorContains(t, err, "move this directory away", name)
	require.Equal(t, before, files(t, dir), name)
}

// A manifest that has been cut, wherever it is, has lost tables: the engine would remove them, and all that they hold.
func TestManifestCut(t *testing.T) {
	for _, killed := range []bool{false, true} {
		dir := filled(t, killed)
		path := filepath.Join(dir, "kv", "MANIFEST")
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		for n := range len(whole) {
			require.NoError(t, os.WriteFile(path, whole[:n], 0o600))
			refused(t, dir, fmt.Sprintf("killed %v, cut to %d of %d", killed, n, len(whole)))
		}
		require.NoError(t, os.Remove(path))
		refused(t, dir, "no manifest")
		require.NoError(t, os.Remove(filepath.Join(dir, "kv", "manifest.mark")))
		refused(t, dir, "no manifest, and no mark")
		require.NoError(t, os.WriteFile(path, whole, 0o600))
		points, err := storage.NewRecoveryPoints(openStore(t, dir))
		require.NoError(t, err)
		for n := range uint64(4) {
			got, _, err := points.Load(fmt.Sprint("q", n))
			require.NoError(t, err)
			require.Equal(t, n+1, got.Epoch)
		}
	}
}

// What a crash leaves is no damage: a record that is half written, records that have been added since they were last looked at,
// and a manifest that has been replaced by a shorter one.
func TestManifestAfterCrash(t *testing.T) {
	opens := func(dir, name string) {
		t.Helper()
		s, err := storage.Open(dir, storage.Options{})
		require.NoError(t, err, name)
		require.NoError(t, s.Close())
	}
	dir := filled(t, true)
	whole, err := os.ReadFile(filepath.Join(dir, "kv", "MANIFEST"))
	require.NoError(t, err)
	torn := append(bytes.Clone(whole), whole[16:]...)
	record := 8 + int(binary.BigEndian.Uint32(whole[16:]))
	for _, more := range []int{1, 8, record - 1} {
		again := t.TempDir()
		require.NoError(t, os.CopyFS(again, os.DirFS(dir)))
		require.NoError(t, os.WriteFile(filepath.Join(again, "kv", "MANIFEST"), torn[:len(whole)+more], 0o600))
		opens(again, fmt.Sprint("torn behind ", more))
		opens(again, fmt.Sprint("once more, torn behind ", more))
	}

	dir = filled(t, false)
	path := filepath.Join(dir, "kv", "MANIFEST")
	mark, err := os.ReadFile(filepath.Join(dir, "kv", "manifest.mark"))
	require.NoError(t, err)
	opens(dir, "whole")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kv", "manifest.mark"), mark, 0o600))
	opens(dir, "an older mark")

	// Of the records all but the one at the beginning, which is empty, in one: as the engine does it.
	whole, err = os.ReadFile(path)
	require.NoError(t, err)
	replaced := bytes.Clone(whole[:8])
	var set []byte
	for at := 8; at < len(whole); {
		n := int(binary.BigEndian.Uint32(whole[at:]))
		set = append(set, whole[at+8:at+8+n]...)
		at += 8 + n
	}
	replaced = binary.BigEndian.AppendUint32(replaced, uint32(len(set)))
	replaced = binary.BigEndian.AppendUint32(replaced, crc32.Checksum(set, crc32.MakeTable(crc32.Castagnoli)))
	replaced = append(replaced, set...)
	require.Less(t, len(replaced), len(whole))
	require.NoError(t, os.WriteFile(path, replaced, 0o600))
	opens(dir, "replaced")
	require.NoError(t, os.WriteFile(path, replaced[:len(replaced)-1], 0o600))
	refused(t, dir, "replaced, and cut")
}
