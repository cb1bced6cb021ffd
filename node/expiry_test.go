package node

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/config"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/wire"
	"fednode/query"
	"fednode/query/tuple"
)

// TestExportEndsWhileOpen: an export that expires ends what is open through it.
func TestExportEndsWhileOpen(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	x := &export.Export{Name: "a", Stream: "south/a", To: []string{"north"}, Columns: []export.Column{{Name: "v"}}, Expires: now.Add(time.Hour)}
	s := newStreams("south", []*export.Export{x}, func() time.Time { return now })
	out := flow.NewOutput(flow.OutputConfig{Name: "south/a", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}})
	s.put(out, nil)
	c, err := s.openHere("north", out, flow.Subscriber{Name: "north/n/q/f", From: tuple.Position{Time: tuple.MinTime}, Schema: schema})
	require.NoError(t, err)
	defer c.Close()
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 10})
	_, err = c.Next(t.Context())
	require.NoError(t, err)
	now = now.Add(time.Hour)
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 20})
	_, err = c.Next(t.Context())
	var refused *flow.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "expired")
}

// TestNothingLeavesThroughAnotherNodeOfOurs: what we run for a partner gets our streams only through an export, also
// those of our other nodes, which see only us ask.
func TestNothingLeavesThroughAnotherNodeOfOurs(t *testing.T) {
	s := newStreams("south", nil, time.Now)
	s.peerUp("peer", "south", "south-2")
	_, err := s.openAt(t.Context(), s.named("south/south-2"), "north", "south/secret", flow.Subscriber{Name: "south/n/q/f"})
	var refused *flow.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "south/secret does not leave for north")
}

// TestOtherQuerysStreamNeedsAnExport: what one of our queries makes does not leave through a second one.
func TestOtherQuerysStreamNeedsAnExport(t *testing.T) {
	s := newStreams("north", nil, time.Now)
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	s.put(flow.NewOutput(flow.OutputConfig{Name: "north/a/out", Schema: schema, Limit: 1, Generation: 1}), func(string) error { return nil })
	made := &query.FragmentPlan{Name: "made", Inputs: []query.FragmentInput{{Stream: "north/a/out", Source: &query.Stream{}}}}
	reader := &query.FragmentPlan{Name: "reader", Inputs: []query.FragmentInput{{Stream: "north/b/made", Fragment: "made"}}}
	d := &deployment{owner: "north", query: "b", hosts: map[string][]host{"made": {{"north", "n1"}}, "reader": {{"south", "s1"}}},
		n:    &Node{streams: s, cfg: &config.Config{Node: config.Node{Org: "north"}}},
		plan: &query.Plan{Diagram: &query.Diagram{}, Fragments: []*query.FragmentPlan{made, reader}}}
	var denied *export.DeniedError
	require.ErrorAs(t, d.permitOutput(made, "north/b/made")("south"), &denied)
	require.Equal(t, "north/a/out", denied.Stream)
}

// TestStateNeedsTheExportsOfItsInput: the state of a fragment that we run for a partner holds rows of our stream, so it
// goes to another host of a replica only if the stream may.
func TestStateNeedsTheExportsOfItsInput(t *testing.T) {
	x := &export.Export{Name: "a", Stream: "south/a", To: []string{"north"}}
	s := newStreams("south", []*export.Export{x}, time.Now)
	merge := &query.FragmentPlan{Name: "merge", Inputs: []query.FragmentInput{{Stream: "south/a", Source: &query.Stream{}}}}
	d := &deployment{owner: "north", query: "q", hosts: map[string][]host{"merge": {{"east", "e1"}, {"north", "n1"}, {"south", "s1"}}},
		n:    &Node{streams: s, cfg: &config.Config{Node: config.Node{Org: "south"}}},
		plan: &query.Plan{Diagram: &query.Diagram{}, Fragments: []*query.FragmentPlan{merge}}}
	permit := d.permitState(merge)
	require.NoError(t, permit("north"))
	var denied *export.DeniedError
	require.ErrorAs(t, permit("east"), &denied)
	require.Equal(t, "south/a", denied.Stream)
	require.ErrorContains(t, permit("west"), "no replica")
}

// TestHeardStreams: what a peer tells replaces what it told before, and goes with it.
func TestHeardStreams(t *testing.T) {
	s := newStreams("south", nil, time.Now)
	s.heard("north", []wire.StreamStatus{{Name: "north/early"}})
	require.Empty(t, s.remoteStreams(), "it is not up")
	s.peerUp("north", "north", "north-1")
	s.heard("north", []wire.StreamStatus{{Name: "north/a"}, {Name: "north/b"}})
	s.heard("north", []wire.StreamStatus{{Name: "north/b"}})
	require.Equal(t, []wire.StreamStatus{{Name: "north/b"}}, s.remoteStreams())
	s.peerDown("north")
	require.Empty(t, s.remoteStreams())
}
