package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"fednode/storage"
	"fednode/storage/storetest"
)

// A store on a disk that fills up: the reserve stops writing before the engine, which writes through memory maps, can
// meet a full disk and take the process with it. Reading goes on, and so does writing once space is back. It needs the
// right to mount a tmpfs; TestStoreReserve shows the decision without one.
func TestStoreOnFullDisk(t *testing.T) {
	mount := t.TempDir()
	if err := unix.Mount("tmpfs", mount, "tmpfs", 0, "size=192m"); err != nil {
		require.ErrorIs(t, err, unix.EPERM)
		t.Logf("no right to mount a tmpfs (%v)", err)
		return
	}
	defer func() { require.NoError(t, unix.Unmount(mount, unix.MNT_DETACH)) }()
	s := openStore(t, filepath.Join(mount, "store"))
	defer func() { require.NoError(t, s.Close()) }()
	points, err := storage.NewRecoveryPoints(s)
	require.NoError(t, err)
	const size = storage.TxBytes / 2
	require.NoError(t, points.Save(storetest.Point("q", 1, size), nil))

	ballast := filepath.Join(mount, "ballast")
	f, err := os.Create(ballast)
	require.NoError(t, err)
	stored := uint64(1)
	for chunk := make([]byte, 4<<20); err == nil; {
		if err = points.Save(storetest.Point("q", stored+1, size), nil); err == nil {
			stored++
			_, werr := f.Write(chunk)
			require.NoError(t, werr)
		}
	}
	require.ErrorIs(t, err, storage.ErrStorageFull)
	require.Greater(t, stored, uint64(3))
	_, err = f.Write(make([]byte, 40<<20)) // others go on filling it
	require.NoError(t, err)
	got, _, err := points.Load("q")
	require.NoError(t, err)
	require.Equal(t, storetest.Point("q", stored, size), got)

	require.NoError(t, f.Close())
	require.NoError(t, os.Remove(ballast))
	require.NoError(t, points.Save(storetest.Point("q", stored+1, size), nil))
}
