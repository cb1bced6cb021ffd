package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
)

// unsettledQuery is a query of two fragments whose results lack a stream of another organisation.
func unsettledQuery() *api.QueryDetail {
	since, bound := time.Now().Add(-12*time.Second), 3.0
	at := api.StreamTime(1_700_000_000_000_000)
	output := func(stream, missing string) []api.OutputStatus {
		return []api.OutputStatus{{Stream: stream, State: "upstream_failure", Since: &since, Delay: 2.4, Bound: &bound, Holding: 0.5, TentativeRows: 1234,
			Missing: []api.MissingInput{{Stream: missing, Since: at}}, Delays: api.DelayCounts{}}}
	}
	q := &api.QueryDetail{}
	q.QueryInfo = api.QueryInfo{ID: "north/netmon", Org: "north", Name: "netmon", State: "running", Home: "north/edge", Here: true,
		Assignments: []api.Assignment{{Fragment: "far", Org: "south", Node: "one"}, {Fragment: "main", Org: "north", Node: "edge"}}}
	q.Fragments = []api.FragmentStatus{
		{Name: "near", State: api.FragmentRunning, Inputs: []api.InputStatus{{Stream: "south/conns", Condition: "failed", Cause: "node south/* is not up"}},
			Outputs: output("north/netmon.near.out", "south/conns")},
		{Name: "main", State: api.FragmentRunning, Inputs: []api.InputStatus{{Stream: "north/netmon.far.out", Connected: true, Producer: "south/one", Condition: "live", Tentative: true}},
			Outputs: output("north/netmon/suspects", "north/netmon.far.out")},
	}
	return q
}

// asked serves a node that knows one query.
func asked(t *testing.T, q *api.QueryDetail) string {
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		var answer any = []api.Offer{{Org: "north", Stream: "north/netmon.far.out", State: "upstream_failure"}}
		switch r.URL.Path {
		case "/api/v1/queries/netmon":
			answer = q
		case "/api/v1/catalog":
		default:
			http.NotFound(w, r)
			return
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
}

func TestWhyTentative(t *testing.T) {
	alone(t)
	node := asked(t, unsettledQuery())
	out := ok(t, "why", "tentative", "netmon", "--node", node)
	for _, part := range []string{
		"north/netmon/suspects  upstream_failure for 12s, 1,234 tentative rows", "fragment main: the last bucket was 2.4s old (max_delay 3.0s", "0.5s late",
		"missing north/netmon.far.out from 2023-11-14", "its producers say: upstream_failure", "it is made at south/one; ask there next",
		"missing south/conns", "failed, node south/* is not up",
	} {
		require.Contains(t, out, part)
	}
	require.Less(t, strings.Index(out, "fragment main"), strings.Index(out, "fragment near"), "what is nearest to the client comes first")

	var a tentativeAnswer
	require.NoError(t, json.Unmarshal([]byte(ok(t, "why", "tentative", "netmon", "--node", node, "--json")), &a))
	require.True(t, a.Tentative)
	require.Equal(t, []string{"south/one"}, a.Hops[0].Missing[0].Ask)
}

func TestWhyNotTentative(t *testing.T) {
	alone(t)
	q := unsettledQuery()
	for i := range q.Fragments {
		q.Fragments[i].Outputs[0].State = "stable"
	}
	require.Contains(t, ok(t, "why", "tentative", "netmon", "--node", asked(t, q)), "no output of a fragment here is tentative")
	q.Fragments = nil // the home of a query has its sinks, if nothing else
	require.Contains(t, ok(t, "why", "tentative", "netmon", "--node", asked(t, q)), "no fragment of query north/netmon runs at this node; ask one of those below with --dir or --node\nFRAGMENT  RUNS AT\nfar       south/one\nmain      north/edge\n")
	q.Here = false
	require.Contains(t, ok(t, "why", "tentative", "netmon", "--node", asked(t, q)), "main      north/edge\n")
}

// Status and query show say whether results are final, and where inputs come from.
func TestTentativeIsShown(t *testing.T) {
	alone(t)
	out := ok(t, "query", "show", "netmon", "--node", asked(t, unsettledQuery()))
	require.Regexp(t, `  suspects +upstream_failure +12s +2.4s, held 0.5s +3.0s +1,234 +- +far.out`, out)
	require.Regexp(t, `  far.out +south/one +live, tentative`, out)
	require.Regexp(t, `south/conns +nobody: node south/\* is not up +failed`, out)
}

// An input that waits since only a replica with other rows is left shows the way out, and the command says what it did.
func TestAcceptIsShown(t *testing.T) {
	alone(t)
	q := unsettledQuery()
	q.Fragments[0].Inputs[0].Diverged = []string{"south/two"}
	node := asked(t, q)
	call := "fednode query accept north/netmon "
	require.Contains(t, ok(t, "why", "tentative", "netmon", "--node", node), "south/two is DIVERGED: it gave other rows than another replica; if that one is gone for good: "+call+"south/two\n")
	require.Contains(t, ok(t, "query", "show", "netmon", "--node", node), call+"REPLICA\n")

	var got string
	node = serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Method + " " + r.URL.EscapedPath() + " " + r.URL.Query().Get("producer")
		w.WriteHeader(http.StatusNoContent)
	})
	require.Equal(t, "query north/netmon reads from south/two again\n", ok(t, "query", "accept", "north/netmon", "south/two", "--node", node))
	require.Equal(t, "POST /api/v1/queries/north%2Fnetmon/accept south/two", got)
}

// A sink says what it does with results that are not final.
func TestSinkCell(t *testing.T) {
	now := time.Now()
	since := now.Add(-5 * time.Second)
	for want, k := range map[string]api.SinkStatus{
		"delivering":                                  {Connected: true, State: "stable"},
		"waiting: results are tentative for 5s":       {Connected: true, State: "upstream_failure", Since: &since},
		"delivering tentative rows for 5s":            {Connected: true, State: "upstream_failure", Since: &since, Tentative: 3},
		"waiting: results are being corrected for 5s": {Connected: true, State: "stabilization", Since: &since},
		"waiting: nobody has it":                      {Cause: "nobody has it"},
		"failed":                                      {Connected: true, Failure: "the disk is full"},
		"done":                                        {Done: true},
	} {
		require.Equal(t, want, sinkCell(&k, now).text)
	}
}

// Why a source or a sink has failed stands below the table: in a column it would be wider than any terminal.
func TestFailuresBelowTable(t *testing.T) {
	const why = "write to \"data\": storage is full; free space on this file system"
	var out strings.Builder
	printSources(&out, []api.SourceStatus{{Stream: "north/conns", Failure: why}, {Stream: "north/dns", Condition: "live"}})
	printSinks(&out, []api.SinkStatus{{Output: "counts", Failure: why}}, time.Now())
	lines := strings.Split(out.String(), "\n")
	require.Contains(t, lines, "north/conns has failed: "+why)
	require.Contains(t, lines, "  counts has failed: "+why)
	require.Equal(t, 2, strings.Count(out.String(), why))
}

// Streams of a query stand below it without its name.
func TestStreamIn(t *testing.T) {
	require.Equal(t, "rows", streamIn("north/watch", "north/watch/rows"))
	require.Equal(t, "edge_south", streamIn("north/watch", "north/watch.edge_south.edge_south"))
	require.Equal(t, "edge.out", streamIn("north/watch", "north/watch.edge.out"))
	require.Equal(t, "south/conns", streamIn("north/watch", "south/conns"))
}

// Results of best effort are not corrected: the commands say what they wait for, and what has been left as it was.
func TestBestEffortIsShown(t *testing.T) {
	alone(t)
	at := func(second int64) api.StreamTime { return api.StreamTime((1_700_000_000 + second) * 1_000_000) }
	q := unsettledQuery()
	far, near := &q.Fragments[0].Outputs[0], &q.Fragments[1].Outputs[0]
	far.Anew = api.Anew{Phase: api.PhaseLacking, Span: 10, Complete: at(0), Needed: at(8), Begins: api.NoTime}
	near.Anew = api.Anew{Phase: api.PhaseConverging, Span: 10, Begins: at(20), Times: 2, GapFrom: at(-60), GapTo: at(-30), Reason: "without south/conns"}
	node := asked(t, q)
	for _, out := range []string{ok(t, "why", "tentative", "netmon", "--node", node), ok(t, "query", "show", "netmon", "--node", node)} {
		require.Contains(t, out, "input is complete until 2023-11-14 22:13:20.0, needed until 2023-11-14 22:13:28.0; then stable again after 10.0s")
		require.Contains(t, out, "input is complete again: stable from 2023-11-14 22:13:40.0 on")
		require.Contains(t, out, "has begun anew 2 times since the fragment started: results from 2023-11-14 22:12:20.0 to 2023-11-14 22:12:50.0 are not corrected: without south/conns")
	}
	require.Regexp(t, `suspects +upstream_failure .* not at all +far.out`, ok(t, "query", "show", "netmon", "--node", node))

	near.State, near.Anew.Phase, far.State = "stable", api.PhaseWhole, "stable"
	out := ok(t, "why", "tentative", "netmon", "--node", asked(t, q))
	require.Contains(t, out, "no output of a fragment here is tentative\nnorth/netmon/suspects  has begun anew 2 times")
}
