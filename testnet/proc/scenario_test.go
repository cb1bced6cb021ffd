package proc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
	"fednode/testnet/scenario"
)

// TestProcessScenarios: with two replicas of everything, results after a crash and after a partition are those of an
// undisturbed run. As root the partition is one between network namespaces.
func TestProcessScenarios(t *testing.T) {
	modes := map[string]string{"kill": testnet.ModeProcess, "partition": testnet.ModeProcess}
	if os.Geteuid() == 0 && namespaces() {
		modes["partition"] = testnet.ModeNetns
	}
	for name, mode := range modes {
		t.Run(name+" in mode "+mode, func(t *testing.T) {
			file := filepath.Join("testdata", name+".scenario")
			src, err := os.ReadFile(file)
			require.NoError(t, err)
			s, err := scenario.Parse(file, src)
			require.NoError(t, err)
			r, err := scenario.Run(t.Context(), s, scenario.Options{Mode: mode, Command: command()})
			require.NoError(t, err)
			require.Empty(t, r.Failures)
			require.Equal(t, mode, r.Mode)
			t.Logf("%d stable and %d tentative rows; longest delay %.2f s, stabilised after %.2f s", r.StableRows, r.TentativeRows, r.LongestDelay, r.Stabilise)
		})
	}
}

// namespaces reports whether this machine has what network namespaces need.
func namespaces() bool {
	_, err := os.Stat("/dev/net/tun")
	return err == nil
}
