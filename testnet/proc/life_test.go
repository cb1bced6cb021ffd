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
	// What the start leaves to do, and other work on the machine, shows in a stretch: the three have some to be idle in, and
	// share what the machine does to them.
	idle := false
	for try := 0; try < tries && !idle; try++ {
		pause(t, idleFor)
		after := net.View(t.Context())
		span := after.At.Sub(before.At).Seconds()
		all := 0.0
		for i, n := range after.Nodes {
			require.NotNil(t, n.Status)
			require.Less(t, n.MemoryBytes, int64(mostMemory), n.ID)
			cpu := (n.CPUSeconds - before.Nodes[i].CPUSeconds) / span
			t.Logf("%s: %.0f MB, %.2f %% of a core", n.ID, float64(n.MemoryBytes)/1e6, 100*cpu)
			all += cpu
		}
		idle, before = all < mostCPU*float64(len(after.Nodes)), after
	}
	require.True(t, idle, "the daemons are never idle")
}

// tries is how often a daemon may take too long to stop or to start, or not be idle: the machine of the tests may do other
// things.
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
