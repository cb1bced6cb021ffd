package proc

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/testnet"
)

// What a daemon may take.
const (
	mostStart  = time.Second
	mostStop   = 2 * time.Second
	mostMemory = 100 << 20
	mostCPU    = 0.02 // of a core
	idleFor    = 6 * time.Second
	stretches  = 3
)

// TestProcessIdle: with its streams at their end a daemon is idle: it holds little memory and needs next to no processor
// time. It starts and stops quickly.
func TestProcessIdle(t *testing.T) {
	s := testnet.Default()
	s.Query, s.Data = filepath.Join("testdata", "netmon.toml"), []string{connections(t, 3, 3000)}
	net := up(t, s, nil)
	awaitView(t, net, "all data are through", done)
	for _, n := range net.Nodes() { // what the first data took is not what idling takes
		require.NoError(t, net.Restart(t.Context(), n))
	}
	before := awaitView(t, net, "all met again", func(v *testnet.View) bool {
		return met(v) && v.Done
	})
	// What the start leaves to do, and other work on the machine, shows in a stretch: the quietest of some counts.
	least := make(map[string]float64)
	for range stretches {
		pause(t, idleFor)
		after := net.View(t.Context())
		span := after.At.Sub(before.At).Seconds()
		for i, n := range after.Nodes {
			require.NotNil(t, n.Status)
			require.Less(t, n.MemoryBytes, int64(mostMemory), n.ID)
			cpu := (n.CPUSeconds - before.Nodes[i].CPUSeconds) / span
			t.Logf("%s: %.0f MB, %.2f %% of a core", n.ID, float64(n.MemoryBytes)/1e6, 100*cpu)
			if have, seen := least[n.ID]; !seen || cpu < have {
				least[n.ID] = cpu
			}
		}
		before = after
	}
	for id, cpu := range least {
		require.Less(t, cpu, mostCPU, id)
	}
}

// tries is how often a daemon may take too long to stop or to start: the machine of the tests may do other things.
const tries = 10

// TestProcessStartStop: the times of a daemon that has data and a query.
func TestProcessStartStop(t *testing.T) {
	s := testnet.Default()
	s.Rows = 200_000
	s.Speed = 0
	net := up(t, s, nil)
	awaitView(t, net, "all data are through", done)
	for _, n := range net.Nodes() {
		quick := false
		for try := 0; try < tries && !quick; try++ {
			began := time.Now()
			require.NoError(t, net.Stop(n))
			stopped := time.Since(began)
			began = time.Now()
			require.NoError(t, net.Restart(t.Context(), n))
			started := time.Since(began)
			t.Logf("%s: stopped in %v, up again and met the others in %v", n, stopped.Round(time.Millisecond), started.Round(time.Millisecond))
			quick = stopped < mostStop && started < mostStart
		}
		require.True(t, quick, "%s took longer than %v to stop or %v to start, %d times", n, mostStop, mostStart, tries)
	}
}
