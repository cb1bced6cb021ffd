package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// idler is a program that does nothing.
type idler struct{}

func (idler) Boot()                                {}
func (idler) Opened(world.NodeID)                  {}
func (idler) Closed(world.NodeID, world.Closing)   {}
func (idler) Message(world.NodeID, *world.Message) {}
func (idler) Stored(uint32, bool)                  {}
func (idler) Due() tuple.Instant                   { return world.Never }
func (idler) Wake()                                {}

// TestDeathIsNoExcuse shows that the death of a replica excuses no hole while another one serves, but that something was wrong with
// it, or with a way to it, shortly before does.
func TestDeathIsNoExcuse(t *testing.T) {
	const died, row, before = 20 * tuple.Second, 18 * tuple.Second, 2 * tuple.Second
	spec := topology.Default()
	spec.Fragments = 1
	top, err := topology.Build(spec)
	require.NoError(t, err)
	cfg := world.Default()
	cfg.Nodes, cfg.NewProgram = len(top.Nodes), func(world.NodeID, uint64) world.Program { return idler{} }
	r := &Run{top: top, w: world.New(cfg), settings: settingsOf(&spec)}
	h := newHealth(r)
	for n := range top.Nodes {
		r.w.Start(world.NodeID(n))
		h.since[n], h.lived[n] = before, died
	}
	for k := range h.way {
		h.way[k] = before
	}
	copy(h.sinceThen, h.since)
	copy(h.wayThen, h.way)
	dead := top.ReplicasOf(0)[0]
	r.w.Crash(dead, false)
	way := h.index(top.Client(), dead)
	h.since[dead], h.way[way] = bad, bad
	require.True(t, h.allWays(0, row))
	for _, then := range []*int64{&h.sinceThen[dead], &h.wayThen[way]} {
		for _, since := range []int64{row + tuple.Second, bad} {
			*then = since
			require.False(t, h.allWays(0, row))
		}
		*then = before
	}
	h.wayThen[way], h.lived[dead] = bad, row-tuple.Second
	require.True(t, h.allWays(0, row), "it was dead by then")
}
