package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/node"
	"fednode/testnet"
)

// TestHaunt: only a daemon whose environment names a file believes one, and it believes what the file says at the time.
func TestHaunt(t *testing.T) {
	t.Setenv(testnet.HauntEnv, "")
	var plain node.Options
	hauntOptions(&plain)
	require.Nil(t, plain.Now)
	require.Nil(t, plain.Space)

	file := filepath.Join(t.TempDir(), "faults.json")
	t.Setenv(testnet.HauntEnv, file)
	o := node.Options{Log: zap.NewNop()}
	hauntOptions(&o)
	require.WithinDuration(t, time.Now(), o.Now(), time.Minute)
	s, err := o.Space(t.TempDir())
	require.NoError(t, err)
	require.Positive(t, s.Free)
	require.NoError(t, os.WriteFile(file, []byte(`{"clock_offset_us":-3600000000,"disk_full":true}`), 0o600))
	require.Eventually(t, func() bool {
		s, err = o.Space(t.TempDir())
		return err == nil && s.Free == 0
	}, time.Minute, time.Millisecond)
	require.WithinDuration(t, time.Now().Add(-time.Hour), o.Now(), time.Minute)
	require.NoError(t, os.WriteFile(file, []byte(`{`), 0o600))
	require.WithinDuration(t, time.Now().Add(-time.Hour), o.Now(), time.Minute, "what cannot be read changes nothing")
}
