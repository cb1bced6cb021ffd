package file

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

// TestLooked: what is in the file when a look begins that finds nothing has been returned before.
func TestLooked(t *testing.T) {
	path := put(t, filepath.Join(t.TempDir(), "conn.jsonl"), jsonNumbers(0, 1))
	f := follow(t, path, nil)
	looking := f.r.(connect.Looking)
	require.True(t, looking.Looked().IsZero())
	f.until(1)

	quiet, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := f.r.Next(quiet)
		ended <- err
	}()
	begin := time.Now()
	require.Eventually(t, func() bool { return looking.Looked().After(begin) }, time.Minute, time.Millisecond, "it goes on looking while there is nothing")
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)

	written := time.Now()
	appendTo(t, path, jsonNumbers(1, 2))
	f.until(2)
	require.False(t, looking.Looked().After(written))
}
