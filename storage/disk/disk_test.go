package disk_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"fednode/storage/disk"
)

func TestWrapSorts(t *testing.T) {
	for cause, class := range map[error]error{unix.ENOSPC: disk.ErrFull, unix.EDQUOT: disk.ErrFull, unix.EROFS: disk.ErrReadOnly,
		unix.EACCES: disk.ErrReadOnly, unix.EMFILE: disk.ErrTransient} {
		err := disk.Wrap("append to", "/data/log", &fs.PathError{Op: "write", Path: "/data/log", Err: cause})
		require.ErrorIs(t, err, class)
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, `append to "/data/log"`)
		require.Equal(t, err, disk.Wrap("again", "elsewhere", fmt.Errorf("more: %w", err)).(interface{ Unwrap() error }).Unwrap())
	}
	require.NoError(t, disk.Wrap("x", "y", nil))
	require.NotErrorIs(t, disk.Wrap("x", "y", unix.EIO), disk.ErrTransient)
	require.ErrorContains(t, disk.Damaged("read", "p", "byte %d", 3), `read "p": storage is damaged: byte 3`)
}

func TestLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "deep")
	l, err := disk.LockDir(dir)
	require.NoError(t, err)
	_, err = disk.LockDir(dir)
	require.ErrorIs(t, err, disk.ErrLocked)
	require.ErrorContains(t, err, fmt.Sprintf("held by process %d", os.Getpid()))
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	l, err = disk.LockDir(dir)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = disk.LockDir(file)
	require.ErrorContains(t, err, "make directory")
}

// The register keeps the newest value through reopening, and the one before when a write is torn at any byte.
func TestRegister(t *testing.T) {
	path := filepath.Join(t.TempDir(), "REGISTER")
	var before []byte
	for n := range 6 {
		r, err := disk.OpenRegister(path, nil)
		require.NoError(t, err)
		if n > 0 {
			require.Equal(t, fmt.Sprintf("value %d", n-1), string(r.Value()))
		} else {
			require.Nil(t, r.Value())
		}
		before, err = os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, r.Store(fmt.Appendf(nil, "value %d", n)))
		require.Error(t, r.Store(make([]byte, disk.MaxRegister+1)))
		require.NoError(t, r.Close())
	}
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	for cut := range len(after) {
		torn := append(append([]byte(nil), after[:cut]...), before[cut:]...)
		require.NoError(t, os.WriteFile(path, torn, 0o600))
		r, err := disk.OpenRegister(path, nil)
		require.NoError(t, err)
		require.Contains(t, []string{"value 4", "value 5"}, string(r.Value()))
		require.NoError(t, r.Close())
		if cut > 100 && cut < 4096 {
			break // the rest of the slot is empty
		}
	}
	require.NoError(t, os.WriteFile(path, []byte("garbage that is not a register"), 0o600))
	_, err = disk.OpenRegister(path, nil)
	require.ErrorIs(t, err, disk.ErrDamaged)
}

func TestWatch(t *testing.T) {
	w := disk.Watch{Reserve: disk.Reserve{StopBytes: 100, ResumeBytes: 150}}
	for _, step := range []struct {
		free             int64
		stopped, changed bool
	}{{200, false, false}, {101, false, false}, {100, true, true}, {149, true, false}, {150, false, true}} {
		stopped, changed := w.Observe(disk.Space{Free: step.free, Total: 1000})
		require.Equal(t, step.stopped, stopped, "%d free", step.free)
		require.Equal(t, step.changed, changed, "%d free", step.free)
	}
	require.NoError(t, w.Check("/data", disk.Space{Free: 200}))
	err := w.Check("/data", disk.Space{Free: 50})
	require.ErrorIs(t, err, disk.ErrFull)
	require.ErrorContains(t, err, `write to "/data"`)
	require.True(t, w.Stopped())

	require.Error(t, disk.Reserve{StopBytes: 5, ResumeBytes: 4}.Validate())
	require.NoError(t, disk.DefaultReserve(disk.Space{Total: 1 << 20}).Validate())
	require.EqualValues(t, 512<<20, disk.DefaultReserve(disk.Space{Total: 1 << 40}).StopBytes)
	s, err := disk.Measure(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, s.Total)
	_, err = disk.Measure("/does/not/exist")
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.seg")
	for _, want := range []string{"a.seg.bad", "a.seg.bad-2", "a.seg.bad-3"} {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		got, err := disk.SetAside(path, ".bad")
		require.NoError(t, err)
		require.Equal(t, filepath.Join(dir, want), got)
		b, err := os.ReadFile(got)
		require.NoError(t, err)
		require.Equal(t, want, string(b))
	}
	_, err := disk.SetAside(path, ".bad")
	require.True(t, errors.Is(err, fs.ErrNotExist))
}
