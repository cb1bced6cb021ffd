package postgres

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

// The password is the first line of a file that nobody else may read.
func TestPasswordFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(path, []byte("s3cret word\r\nmore\n"), 0o600))
	d := &connect.Database{PasswordFile: path}
	got, err := password(d)
	require.NoError(t, err)
	require.Equal(t, "s3cret word", got)
	for _, mode := range []os.FileMode{0o640, 0o604} {
		require.NoError(t, os.Chmod(path, mode))
		_, err = password(d)
		require.ErrorContains(t, err, "can be read by others")
		require.ErrorContains(t, err, "chmod 600")
		require.NotContains(t, err.Error(), "s3cret")
	}
	_, err = password(&connect.Database{PasswordFile: path + "-not"})
	require.ErrorContains(t, err, "no such file")
}
