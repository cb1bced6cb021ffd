package evaluate

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/query"
	"fednode/testnet"
	"fednode/testnet/scenario"
)

// What the scenarios on real daemons are made of can be read: testnet, query and steps.
func TestProcessFiles(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "net.toml")
	require.NoError(t, os.WriteFile(file, []byte(processNet(processRateMost)), 0o644))
	s, err := testnet.ReadSpec(file)
	require.NoError(t, err)
	require.NoError(t, s.Validate())
	require.Equal(t, processRateMost, s.Live)
	_, problems := query.Parse("watch.toml", []byte(processQuery(delayProcess)), query.Options{Connectors: bind.New(connectors.Kinds())})
	require.NoError(t, problems.Err())
	c, err := scenario.Parse("cut.scenario", []byte(processScenario(5*time.Second)))
	require.NoError(t, err)
	require.Equal(t, "net.toml", filepath.Base(c.Testnet))
	require.Len(t, c.Steps, 5)
}

// A report becomes a cell: what did not hold is a breach.
func TestCellOf(t *testing.T) {
	r := &scenario.Report{StableRows: 100, TentativeRows: 7, NormalDelay: 0.5, LongestDelay: 2, Stabilise: 1.5, Equal: true}
	k := cut{rate: 1500, pair: bothProcess, length: 5 * time.Second}
	c := cellOf(r, k)
	require.Equal(t, Figures{Runs: 1, Rows: 100, Normal: 500_000, Normal99: 500_000, Delay: 2_500_000, Incremental: 2_000_000, Tentative: 7, Corrected: 1_500_000, Settled: 1_500_000}, c.Figures)
	require.Equal(t, "process / process, 5", c.Name())
	r.Equal, r.Failures = false, []scenario.Failure{{Expected: "a", Seen: "b"}}
	c = cellOf(r, k)
	require.Equal(t, 1, c.Unequal)
	require.Equal(t, []string{"expected a; seen: b"}, c.Breaches)
}
