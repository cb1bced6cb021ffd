package evaluate

import (
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

// What the scenarios on real daemons are made of can be read: testnet, query and steps, at every rate.
func TestProcessFiles(t *testing.T) {
	for _, s := range setups() {
		for _, rate := range append(ladder(), processRate) {
			k := cut{setup: s, rate: rate, pair: delayProcess, length: 5 * time.Second}
			dir := t.TempDir()
			require.NoError(t, writeFiles(dir, k))
			spec, err := testnet.ReadSpec(filepath.Join(dir, "net.toml"))
			require.NoError(t, err)
			require.NoError(t, spec.Validate())
			require.Equal(t, rate, spec.Live)
			_, problems := query.Parse("watch.toml", []byte(processQuery(k)), query.Options{Connectors: bind.New(connectors.Kinds())})
			require.NoError(t, problems.Err())
			c, err := scenario.Parse("cut.scenario", []byte(processScenario(k)))
			require.NoError(t, err)
			require.Equal(t, "net.toml", filepath.Base(c.Testnet))
			require.Len(t, c.Steps, 5)
		}
	}
}

// Failures are measured at the grid's rate and at 100 times that, or at the highest that was held.
func TestRatesOf(t *testing.T) {
	held := func(rates ...int) (list []Rate) {
		for _, r := range rates {
			list = append(list, Rate{Asked: r, Held: true})
		}
		return list
	}
	require.Equal(t, []int{processRate}, ratesOf([]Rate{{Asked: 5000}}))
	require.Equal(t, []int{processRate, 15_000}, ratesOf(append(held(5000, 15_000), Rate{Asked: 50_000})))
	require.Equal(t, []int{processRate, processRateMany}, ratesOf(held(5000, 150_000, 300_000)))
}

// What bounds a rate is the processors if hardly any of their time is left, and it is said whose time it was.
func TestRatesText(t *testing.T) {
	list := []Rate{{Setup: "one node", Asked: 5000, Held: true, All: 2, Machine: 1},
		{Setup: "one node", Asked: 15_000, Taken: 9000, All: 2, Machine: 1.9, Sources: 0.3, Others: 0.2, Testnet: 0.1}}
	require.Contains(t, ratesText(list), "the highest rate held is 5000 rows/s a stream; what bounds it at 15000: the processors: 1.9 of 2 in use, 0.6 of them by the federation, the rest by other programs.")
	list[1].Machine = 1.2
	require.Contains(t, ratesText(list), "not the processors, of which 1.2 of 2 were in use")
	require.Contains(t, ratesText(list[:1]), "the highest rate tried was held")
	require.Contains(t, ratesText(list[1:]), "no rate was held")
	require.Empty(t, ratesText(nil))
}

func TestBusyOf(t *testing.T) {
	require.Equal(t, 3.8, busyOf("cpu  100 50 100 9000 800 10 20 100 0 0\ncpu0 1 1 1 1\n"))
	require.Zero(t, busyOf("garbage"))
	require.Zero(t, busyOf("cpu a b c d e f g h i"))
}

// A report becomes a cell: what did not hold is a breach.
func TestCellOf(t *testing.T) {
	r := &scenario.Report{StableRows: 100, TentativeRows: 7, NormalDelay: 0.5, LongestDelay: 2, Stabilise: 1.5, Equal: true}
	k := cut{rate: processRate, pair: bothProcess, length: 5 * time.Second}
	c := cellOf(r, k)
	require.Equal(t, Figures{Runs: 1, Rows: 100, Normal: 500_000, Normal99: 500_000, Delay: 2_500_000, Incremental: 2_000_000, Tentative: 7, Corrected: 1_500_000, Settled: 1_500_000}, c.Figures)
	require.Equal(t, "process / process, 5", c.Name())
	r.Equal, r.Failures = false, []scenario.Failure{{Expected: "a", Seen: "b"}}
	c = cellOf(r, k)
	require.Equal(t, 1, c.Unequal)
	require.Equal(t, []string{"expected a; seen: b"}, c.Breaches)
}
