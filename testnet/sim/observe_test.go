package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
)

// tally counts what an observer is told.
type tally struct {
	t              *testing.T
	stable, unsure uint64
	at             int64
	changes        int
}

func (c *tally) later(at int64) {
	require.GreaterOrEqual(c.t, at, c.at)
	c.at = at
}

func (c *tally) Rows(at int64, f *tuple.Frame, tentative bool) {
	c.later(at)
	if tentative {
		c.unsure += uint64(f.Batch.Rows())
	} else {
		c.stable += uint64(f.Batch.Rows())
	}
	source, _ := RowOf(f.Batch, f.Batch.Row(0))
	require.Less(c.t, source, 2)
	require.LessOrEqual(c.t, WorldTime(f.Batch.Time[f.Batch.Row(0)]), at)
}

func (c *tally) Reached(at int64, t tuple.Time, _ bool) {
	c.later(at)
	require.LessOrEqual(c.t, WorldTime(t), at)
}

func (c *tally) Over(at int64) { c.later(at) }

func (c *tally) Changed(at int64, _ string, _ replica.Change) { c.later(at); c.changes++ }

// An observer is told of every row that the client gets, and a run that is to go on does so after a promise broke: here the
// bound is less than finding a failure takes, and what is tentative has no time to be corrected.
func TestObserver(t *testing.T) {
	s := topology.Default()
	s.Fragments, s.Sources, s.Trouble, s.Settle = 1, 2, 0, 0
	plan := fault.Plan{}
	for _, node := range []string{"f1.0", "f1.1"} {
		plan = append(plan, fault.Fault{At: 6 * tuple.Second, Kind: fault.Cut, A: "s0", B: node, For: 6 * tuple.Second})
	}
	c := &tally{t: t}
	r, err := Execute(Case{Seed: 1, Spec: s, Faults: plan}, Options{Observer: c, GoOn: true})
	require.NoError(t, err)
	require.Equal(t, r.Rows, c.stable)
	require.Equal(t, r.Tentative, c.unsure)
	require.Positive(t, c.unsure)
	require.Positive(t, c.changes)
	require.NotEmpty(t, r.Breaches(), "12 s are too early to be stable")
	require.Equal(t, PromiseRest, r.Breaches()[0].Promise)
	require.Equal(t, *r.Breach, r.Breaches()[0])
}
