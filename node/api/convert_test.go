package api

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/client"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/ingest"
	"fednode/node/replica"
	"fednode/node/source"
	"fednode/query"
	"fednode/query/op"
	"fednode/query/tuple"
)

func TestSourceOf(t *testing.T) {
	since := time.Unix(9, 0).UTC()
	s := SourceOf(source.Status{
		Name: "north/conns", Condition: ingest.Behind, Detail: "conn.log", Totals: ingest.Totals{Rows: 5, Late: 2, Future: 1, Clamped: 1}, Errors: 3,
		Head: tuple.Position{Generation: 1, ID: 5, Time: 7}, High: tuple.MinTime, LogBytes: 10,
		Subscribers: map[string]tuple.Position{"b": {}, "a": {Generation: 1, ID: 2, Time: 3}},
		Lapsed:      map[string]flow.Lapse{"c": {Acknowledged: tuple.Position{Generation: 1, ID: 1, Time: 2}, Since: since}},
	}, 100)
	require.Equal(t, SourceStatus{
		Stream: "north/conns", Condition: "behind", Detail: "conn.log", Rows: 5, Late: 2, Future: 1, Clamped: 1, Errors: 3, ByReason: map[string]uint64{},
		Head: Position{1, 5, 7}, High: NoTime, LogBytes: 10, LogLimitBytes: 100,
		Subscribers: []Subscriber{{"a", Position{1, 2, 3}, nil}, {"b", Position{0, 0, NoTime}, nil}, {"c", Position{1, 1, 2}, &since}},
	}, s)
}

func TestFragmentOf(t *testing.T) {
	at := time.Unix(100, 0)
	f := FragmentOf("main", fragment.Status{
		Name: "north/netmon/main", Released: 5, PointAt: at, PointBoundary: 4, StateBytes: 9,
		Operator: query.Status{Operators: []query.OperatorStatus{{Name: "a", Kind: "filter", Counters: op.Counters{RowsIn: 2, RowsOut: 1, Dropped: 1}, Lag: 1_500_000, HeldBy: "conns"}}},
		Inputs:   []fragment.InputStatus{{Stream: "north/conns", Connected: true, Producer: "north/n1", Condition: dcaa.Live, Tentative: true, Diverged: []string{"north/n2"}}},
		Outputs: []fragment.OutputStatus{{Stream: "north/netmon/out", Head: tuple.Position{Generation: 1, ID: 2, Time: 5}, Bytes: 1, Limit: 2,
			State: dcaa.UpstreamFailure, Since: at, Holding: time.Second, Tentative: 3, Missing: []tuple.Missing{{Stream: "south/conns", Since: 7}},
			Delay: 2 * time.Second, Bound: 3 * time.Second, Redo: time.Minute, Delays: fragment.Delays{Sum: time.Second},
			Anew: &replica.AnewView{Phase: replica.Converging, Span: 2_000_000, Complete: tuple.MinTime, Needed: tuple.MinTime, Begins: 9}}},
	})
	require.Equal(t, FragmentRunning, f.State)
	require.Equal(t, 1.5, f.Operators[0].Lag)
	require.EqualValues(t, 1, f.Operators[0].Dropped)
	require.Equal(t, InputStatus{Stream: "north/conns", Connected: true, Producer: "north/n1", Condition: "live", Tentative: true, Diverged: []string{"north/n2"}}, f.Inputs[0])
	o, bound, since := f.Outputs[0], 3.0, at.UTC()
	require.Len(t, o.Delays.Boundaries, len(o.Delays.UpTo)+1)
	o.Delays = DelayCounts{}
	require.Equal(t, OutputStatus{Stream: "north/netmon/out", State: "upstream_failure", Since: &since, Head: Position{1, 2, 5}, Holding: 1, Delay: 2, Bound: &bound,
		TentativeRows: 3, Missing: []MissingInput{{"south/conns", 7}}, Redo: 60, Bytes: 1, Limit: 2, Subscribers: []Subscriber{},
		Anew: Anew{Phase: PhaseConverging, Span: 2, Complete: NoTime, Needed: NoTime, Begins: 9, GapFrom: NoTime, GapTo: NoTime}}, o)
	require.True(t, at.Equal(*f.PointAt))

	fresh := FragmentOf("main", fragment.Status{})
	require.Equal(t, NoTime, fresh.Released)
	require.Equal(t, NoTime, fresh.PointBoundary)
	require.Nil(t, fresh.PointAt)
}

func TestStateOfOutput(t *testing.T) {
	for _, c := range []struct {
		state dcaa.State
		at    tuple.Time
		want  string
	}{
		{0, tuple.MinTime, "starting"}, {dcaa.Starting, tuple.MinTime, "starting"}, {dcaa.Stable, 5, "stable"},
		{dcaa.UpstreamFailure, 5, "upstream_failure"}, {dcaa.Stabilization, 5, "stabilization"}, {dcaa.Failure, 5, "failure"},
		{dcaa.UpstreamFailure, tuple.MaxTime, "ended"}, // what has ended needs no input
	} {
		got := stateOfOutput(fragment.OutputStatus{State: c.state, Head: tuple.Position{Generation: 1, Time: c.at}})
		require.Equal(t, c.want, got)
		require.Contains(t, outputStates(), got)
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
