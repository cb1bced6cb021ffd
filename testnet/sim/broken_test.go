package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/tuple"
	"fednode/testnet/sim/fault"
	"fednode/testnet/sim/topology"
	"fednode/testnet/sim/world"
)

// careless is an operator that loses one row.
type careless struct {
	op.Operator
	rows int
}

// loses is the row that it loses.
const loses = 200

func (c *careless) Process(in int, b *tuple.Batch, out op.Out) error {
	before := c.rows
	c.rows += b.Rows()
	if before <= loses && loses < c.rows {
		k := loses - before
		if err := c.Operator.Process(in, b.Slice(0, k), out); err != nil {
			return err
		}
		b = b.Slice(k+1, b.Rows())
	}
	return c.Operator.Process(in, b, out)
}

func (c *careless) Fork() op.Operator { return &careless{Operator: c.Operator.Fork(), rows: c.rows} }

// carelessly returns a plan whose first operator loses a row.
func carelessly(f *query.FragmentPlan) *query.FragmentPlan {
	broken := *f
	broken.Operators = slices.Clone(f.Operators)
	first := *broken.Operators[0].Plan
	sound := first.New
	first.New = func() op.Operator { return &careless{Operator: sound()} }
	broken.Operators[0].Plan = &first
	return &broken
}

// A replica that loses a row is found out by whoever reads from the fragment, by its checksums. The client stays with the
// other replica, also while that one is down: nothing of the broken one reaches it.
func TestBrokenReplicaIsFoundOut(t *testing.T) {
	s := topology.Default()
	s.Fragments, s.Trouble, s.Settle = 1, 30*tuple.Second, 10*tuple.Second
	top, err := topology.Build(s)
	require.NoError(t, err)
	broken := top.ReplicasOf(0)[0] // the client reads from the other one when it happens
	crash, err := fault.Parse("15s crash f1.1 for 8s")
	require.NoError(t, err)
	r, err := Execute(Case{Seed: 1, Spec: s, Faults: fault.Plan{crash}}, Options{GoOn: true, fragment: func(id world.NodeID, f *query.FragmentPlan) *query.FragmentPlan {
		if id == broken {
			return carelessly(f)
		}
		return f
	}})
	require.NoError(t, err)
	promises := make(map[string]string)
	for _, b := range r.Breaches() {
		promises[b.Promise] = b.Text
	}
	require.Contains(t, promises[PromiseSame], "DIVERGED: client")
	require.Empty(t, promises[PromiseEqual])
	require.Greater(t, r.Rows, uint64(900))
}

// A replica that lacks a source and says all the while that it is STABLE, and ahead of the other one, is read from for a moment:
// the client and the next fragment take it for what it gives.
func TestPretenderIsLeft(t *testing.T) {
	for fragments := range 2 {
		s := topology.Default()
		s.Fragments, s.Sources, s.Trouble, s.Settle = fragments+1, 2, 90*tuple.Second, 10*tuple.Second
		s.Failure = "process"
		top, err := topology.Build(s)
		require.NoError(t, err)
		for _, liar := range top.ReplicasOf(0) {
			t.Run(fmt.Sprintf("%d fragments, ", fragments+1)+" "+top.Nodes[liar].Name, func(t *testing.T) {
				cut, err := fault.Parse("15s cut s0 " + top.Nodes[liar].Name + " for 80s")
				require.NoError(t, err)
				r, err := Execute(Case{Seed: 1, Spec: s, Faults: fault.Plan{cut}}, Options{GoOn: true, says: func(id world.NodeID, st dcaa.StreamStatus) dcaa.StreamStatus {
					if id == liar && st.State == dcaa.UpstreamFailure {
						st.State, st.Holding, st.Boundary = dcaa.Stable, 0, st.Boundary.Add(120*tuple.Second)
					}
					return st
				}})
				require.NoError(t, err)
				require.Empty(t, r.Breaches())
				require.LessOrEqual(t, r.Tentative, uint64(4*s.Rate), "more than comes while it is believed")
			})
		}
	}
}
