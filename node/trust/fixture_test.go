package trust

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var day0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// newDir makes a node's directory at day0.
func newDir(t *testing.T, org, node string) (Dir, *Identity) {
	t.Helper()
	d := Dir{Path: filepath.Join(t.TempDir(), org)}
	id, err := d.Init(Setup{Org: org, Node: node, Now: day0, Random: rand.Reader})
	require.NoError(t, err)
	return d, id
}

func registry(t *testing.T, d Dir) *Registry {
	t.Helper()
	r, err := d.LoadRegistry(DefaultSkew)
	require.NoError(t, err)
	return r
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	st, err := os.Stat(path)
	require.NoError(t, err)
	return st.Mode().Perm()
}

// requireRefusal wants a typed error of the kind.
func requireRefusal(t *testing.T, err, kind error) *Error {
	t.Helper()
	require.ErrorIs(t, err, kind)
	var e *Error
	require.ErrorAs(t, err, &e)
	require.NotEmpty(t, e.Place)
	return e
}
