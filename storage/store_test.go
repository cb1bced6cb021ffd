package storage_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
	"fednode/storage/disk"
	"fednode/storage/faultstore"
	"fednode/storage/storetest"
)

func openStore(t testing.TB, dir string) *storage.Store {
	t.Helper()
	s, err := storage.Open(dir, storage.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storage.DB { return openStore(t, t.TempDir()) })
}

func TestConformanceUnderFaultstore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storage.DB {
		return faultstore.Wrap(openStore(t, t.TempDir()), faultstore.NewPlan(faultstore.Rule{}))
	})
}

// What was committed is there after the next opening.
func TestStoreReopen(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	points, err := storage.NewRecoveryPoints(s)
	require.NoError(t, err)
	require.NoError(t, points.Save(storetest.Point("q", 1, 100_000), nil))
	require.NoError(t, s.GC(context.Background()))
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Update(func(storage.Writer) error { return nil }), storage.ErrClosed)

	points, err = storage.NewRecoveryPoints(openStore(t, dir))
	require.NoError(t, err)
	got, _, err := points.Load("q")
	require.NoError(t, err)
	require.Equal(t, storetest.Point("q", 1, 100_000), got)
}

func TestStoreLocked(t *testing.T) {
	dir := t.TempDir()
	openStore(t, dir)
	_, err := storage.Open(dir, storage.Options{})
	require.ErrorIs(t, err, storage.ErrLocked)
	require.ErrorContains(t, err, "stop that process")
	require.Equal(t, storage.Halt, storage.ActionFor(err))
}

// Below the reserve nothing is written and reading goes on; above it writing goes on by itself.
func TestStoreReserve(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	put := func(s *storage.Store) error {
		return s.Update(func(w storage.Writer) error { return w.Set("k", []byte("v")) })
	}
	require.NoError(t, put(s))
	require.NoError(t, s.Close())
	_, err := storage.Open(dir, storage.Options{Reserve: disk.Reserve{StopBytes: math.MaxInt64, ResumeBytes: math.MaxInt64}})
	require.ErrorIs(t, err, storage.ErrStorageFull)
	require.ErrorContains(t, err, "and start again")
	require.NotContains(t, err.Error(), "by itself", "nothing is open that could go on")
	require.Equal(t, storage.WaitForSpace, storage.ActionFor(err))
	require.NoError(t, put(openStore(t, dir)))
}

// A store whose files are not what was written says so, with a remedy, and changes nothing.
func TestStoreDamaged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, openStore(t, dir).Close())
	path := filepath.Join(dir, "kv", "MANIFEST")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("garbage", 100)), 0o600))
	_, err := storage.Open(dir, storage.Options{})
	require.ErrorIs(t, err, storage.ErrDamaged)
	require.ErrorContains(t, err, "move this directory away")
	left, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, left, 700)
}

// A table that has been cut, or whose end is zeros or noise, is damage that is said; it does not end the process.
func TestTableDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	points, err := storage.NewRecoveryPoints(s)
	require.NoError(t, err)
	require.NoError(t, points.Save(storetest.Point("q", 1, 10_000), nil))
	require.NoError(t, s.Close())
	tables, err := filepath.Glob(filepath.Join(dir, "kv", "*.sst"))
	require.NoError(t, err)
	require.Len(t, tables, 1)
	whole, err := os.ReadFile(tables[0])
	require.NoError(t, err)
	cases := map[string][]byte{"zeros": append(bytes.Clone(whole), make([]byte, 4096)...), "half of zeros": append(bytes.Clone(whole[:len(whole)/2]), make([]byte, len(whole)/2)...)}
	for n := 0; n < len(whole); n += max(1, min(len(whole)/20, len(whole)-n-24)) { // and each of the last bytes
		cases[fmt.Sprint("cut to ", n)] = whole[:n]
	}
	for k := range 60 {
		noise := bytes.Clone(whole)
		noise[len(noise)-1-k] ^= byte(1 + k)
		cases[fmt.Sprint("byte ", k, " before the end")] = noise
	}
	for name, data := range cases {
		require.NoError(t, os.WriteFile(tables[0], data, 0o600))
		s, err := storage.Open(dir, storage.Options{})
		if err == nil { // what is not needed to open it is checked when it is read
			require.NoError(t, s.Close(), name)
			continue
		}
		require.ErrorIs(t, err, storage.ErrDamaged, name)
		require.ErrorContains(t, err, "move this directory away", name)
		left, err := os.ReadFile(tables[0])
		require.NoError(t, err)
		require.Equal(t, data, left, name)
	}
}

// A failed save leaves the points as they were, and the next one succeeds.
func TestSaveUnderFaults(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{})
	points, err := storage.NewRecoveryPoints(faultstore.Wrap(openStore(t, t.TempDir()), plan))
	require.NoError(t, err)
	require.NoError(t, points.Save(storetest.Point("q", 1, 10), nil))
	const large = storage.TxBytes
	for write := 1; write <= 3; write++ {
		plan.Set(faultstore.Rule{FromWrite: write, Times: 1, Err: storage.ErrTransient})
		err := points.Save(storetest.Point("q", 2, large), nil)
		require.Equal(t, storage.Retry, storage.ActionFor(err), "write %d: %v", write, err)
		got, _, err := points.Load("q")
		require.NoError(t, err)
		require.EqualValues(t, 1, got.Epoch)
	}
	require.NoError(t, points.Save(storetest.Point("q", 2, large), nil))
	got, _, err := points.Load("q")
	require.NoError(t, err)
	require.EqualValues(t, 2, got.Epoch)
	plan.Set(faultstore.Rule{AfterBytes: 1})
	require.Equal(t, storage.WaitForSpace, storage.ActionFor(points.Save(storetest.Point("q", 3, 10), nil)))
}

func TestActionFor(t *testing.T) {
	require.Equal(t, storage.Proceed, storage.ActionFor(nil))
	require.Equal(t, storage.Retry, storage.ActionFor(storage.ErrConflict))
	require.Equal(t, storage.Halt, storage.ActionFor(errors.New("anything else")))
	require.Equal(t, "wait for space", storage.WaitForSpace.String())
}
