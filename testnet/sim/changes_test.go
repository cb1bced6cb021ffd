package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// TestReadersLearn shows what a reader is taken to have learned of a stall that passed: to put up with three times as long, unless it
// lasted for longer than may be borne in the end; and that one whose results are tentative need not put up with anything.
func TestReadersLearn(t *testing.T) {
	spec := topology.Default()
	spec.Fragments = 1
	top, err := topology.Build(spec)
	require.NoError(t, err)
	cfg := world.Default()
	cfg.Nodes, cfg.NewProgram = len(top.Nodes), func(world.NodeID, uint64) world.Program { return idler{} }
	r := &Run{top: top, w: world.New(cfg), settings: settingsOf(&spec)}
	reader := top.ReplicasOf(0)[0]
	a := &replicaActor{id: reader, plan: top.Fragments[0], inputs: []int32{0}}
	const stalled = 300 * tuple.Millisecond
	patience := func(lasts int64) int64 {
		c := newChanges(r)
		x := &c.readers[reader][0]
		x.left = leaving{stall: stalled, since: r.w.Now() - lasts}
		c.passed(reader, 0, x)
		learned := c.putsUpWith(x, r.w.Now())
		for _, s := range []dcaa.State{dcaa.UpstreamFailure, dcaa.Stabilization} {
			c.changed(a, replica.Change{From: dcaa.Stable, To: s, Outputs: []int{0}})
			require.Zero(t, c.putsUpWith(x, r.w.Now()), "%v", s)
		}
		c.changed(a, replica.Change{From: dcaa.Stabilization, To: dcaa.Stable, Outputs: []int{0}})
		require.Equal(t, learned, c.putsUpWith(x, r.w.Now()))
		return learned
	}
	require.Equal(t, 3*stalled-r.settings.Heartbeat, patience(stalled))
	require.Zero(t, patience(mostPatience))
}
