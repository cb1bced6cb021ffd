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

// TestProcessScenarioRunning: a scenario that names no testnet is done on one that runs, and leaves it without faults.
func TestProcessScenarioRunning(t *testing.T) {
	net := up(t, testnet.Default(), nil)
	s, err := scenario.Parse("running.scenario", []byte(`
within 60s: query netmon is stable
partition east
kill south
within 60s: node north runs
restart south
heal
within 60s: all nodes have met
never: a stable row is undone
stop south for 1h
finally: lost rows = 0
finally: tentative rows < 0
`))
	require.NoError(t, err)
	r, err := scenario.Run(t.Context(), s, scenario.Options{Running: net.Dir()})
	require.NoError(t, err)
	require.Len(t, r.Failures, 1, "%+v", r.Failures)
	require.Contains(t, r.Failures[0].At, "running.scenario:12:10")
	require.Empty(t, net.Faults())
	require.False(t, r.Equal)
	awaitView(t, net, "the testnet goes on", met)

	s, err = scenario.Parse("own.scenario", []byte("finally: the stable stream equals an undisturbed run"))
	require.NoError(t, err)
	_, err = scenario.Run(t.Context(), s, scenario.Options{Running: net.Dir()})
	require.ErrorIs(t, err, testnet.ErrSpec)
}

// namespaces reports whether this machine has what network namespaces need.
func namespaces() bool {
	_, err := os.Stat("/dev/net/tun")
	return err == nil
}
