package faultstore_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"fednode/storage"
	"fednode/storage/faultstore"
	"fednode/storage/memstore"
)

func TestStoreRules(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{})
	db := faultstore.Wrap(memstore.New(), plan)
	put := func() error { return db.Update(func(w storage.Writer) error { return w.Set("k", make([]byte, 99)) }) }
	require.NoError(t, put())
	plan.Set(faultstore.Rule{FromWrite: 2, Times: 2, Err: storage.ErrTransient})
	require.NoError(t, put())
	require.ErrorIs(t, put(), storage.ErrTransient)
	require.ErrorIs(t, put(), storage.ErrTransient)
	require.NoError(t, put())
	require.Equal(t, 2, plan.Failed())
	plan.Set(faultstore.Rule{AfterBytes: 250})
	require.NoError(t, put())
	require.NoError(t, put())
	require.ErrorIs(t, put(), storage.ErrStorageFull)
	require.ErrorIs(t, put(), storage.ErrStorageFull)
}

func TestFileRules(t *testing.T) {
	plan := faultstore.NewPlan(faultstore.Rule{FromWrite: 1, Times: 1, Torn: true})
	path := filepath.Join(t.TempDir(), "file")
	f, err := faultstore.Files(plan)(path, os.O_RDWR|os.O_CREATE)
	require.NoError(t, err)
	n, err := f.WriteAt([]byte("12345678"), 0)
	require.Equal(t, 4, n)
	require.ErrorIs(t, err, unix.ENOSPC)
	plan.Set(faultstore.Rule{FromWrite: 2, Err: unix.EIO})
	require.NoError(t, f.Sync())
	require.ErrorIs(t, f.Sync(), unix.EIO)
	require.ErrorIs(t, f.Allocate(10), unix.EIO)
	require.NoError(t, f.Close())
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "1234", string(got))
}
