package memstore_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/storage"
	"fednode/storage/memstore"
	"fednode/storage/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storage.DB {
		s := memstore.New()
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	})
}

func TestClosed(t *testing.T) {
	s := memstore.New()
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.View(func(storage.Reader) error { return nil }), storage.ErrClosed)
	require.ErrorIs(t, s.Update(func(storage.Writer) error { return nil }), storage.ErrClosed)
}
