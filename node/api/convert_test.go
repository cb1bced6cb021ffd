package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/client"
	"fednode/node/fragment"
	"fednode/node/ingest"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/tuple"
)

func TestSourceOf(t *testing.T) {
	s := SourceOf(source.Status{
		Name: "north/conns", Condition: ingest.Behind, Detail: "conn.log", Totals: ingest.Totals{Rows: 5, Late: 2, Future: 1, Clamped: 1}, Errors: 3,
		Head: tuple.Position{Generation: 1, ID: 5, Time: 7}, High: tuple.MinTime, LogBytes: 10,
		Subscribers: map[string]tuple.Position{"b": {}, "a": {Generation: 1, ID: 2, Time: 3}},
	}, 100)
	require.Equal(t, SourceStatus{
		Stream: "north/conns", Condition: "behind", Detail: "conn.log", Rows: 5, Late: 2, Future: 1, Clamped: 1, Errors: 3, ByReason: map[string]uint64{},
		Head: Position{1, 5, 7}, High: NoTime, LogBytes: 10, LogLimitBytes: 100,
		Subscribers: []Subscriber{{"a", Position{1, 2, 3}}, {"b", Position{0, 0, NoTime}}},
	}, s)
}

func TestFragmentOf(t *testing.T) {
	at := time.Unix(100, 0)
	f := FragmentOf("main", fragment.Status{
		Name: "north/netmon/main", Released: 5, PointAt: at, PointBoundary: 4, StateBytes: 9,
		Operator: query.Status{Operators: []query.OperatorStatus{{Name: "a", Kind: "filter", Counters: op.Counters{RowsIn: 2, RowsOut: 1, Dropped: 1}, Lag: 1_500_000, HeldBy: "conns"}}},
		Inputs:   []fragment.InputStatus{{Stream: "north/conns", Connected: true}},
		Outputs:  []fragment.OutputStatus{{Stream: "north/netmon/out", Head: tuple.Position{Generation: 1, ID: 2, Time: 5}, Bytes: 1, Limit: 2}},
	})
	require.Equal(t, FragmentRunning, f.State)
	require.Equal(t, 1.5, f.Operators[0].Lag)
	require.EqualValues(t, 1, f.Operators[0].Dropped)
	require.Equal(t, "stable", f.Outputs[0].State)
	require.True(t, at.Equal(*f.PointAt))

	fresh := FragmentOf("main", fragment.Status{})
	require.Equal(t, NoTime, fresh.Released)
	require.Equal(t, NoTime, fresh.PointBoundary)
	require.Nil(t, fresh.PointAt)
}

func TestStateOfOutput(t *testing.T) {
	some := tuple.Position{Generation: 1, ID: 1, Time: 5}
	require.Equal(t, "stable", stateOfOutput(some, false))
	require.Equal(t, "upstream_failure", stateOfOutput(some, true))
	require.Equal(t, "starting", stateOfOutput(tuple.Position{Generation: 1, Time: tuple.MinTime}, false))
	require.Equal(t, "ended", stateOfOutput(tuple.Position{Generation: 1, Time: tuple.MaxTime}, true), "what has ended needs no input")
	for _, s := range []tuple.Position{some, {Time: tuple.MinTime}, {Time: tuple.MaxTime}} {
		require.Contains(t, outputStates(), stateOfOutput(s, false))
	}
}

func TestSinkOfOneThatHasNotBegun(t *testing.T) {
	s := SinkOf("suspects", client.Status{Stream: "north/netmon/suspects"})
	require.Equal(t, NoTime, s.At.Boundary)
	require.Equal(t, NoTime, s.Committed.Boundary)
}

func TestPartnersOf(t *testing.T) {
	got := PartnersOf([]string{"south", "east"}, []PeerInfo{{Org: "south", Up: true}, {Org: "south"}, {Org: ""}, {Org: "gone", Up: true}})
	require.Equal(t, []PartnerStatus{{Org: "east"}, {Org: "south", Up: 1, Known: 2}}, got)
}

func TestMaxDelayOf(t *testing.T) {
	require.Nil(t, MaxDelayOf(query.Unbounded))
	require.Equal(t, 1.5, *MaxDelayOf(1_500_000))
}
