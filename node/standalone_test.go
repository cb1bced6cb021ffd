package node

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/descriptor"
)

// bothReplicated is bothSources with the merging done by three workers.
var bothReplicated = strings.NewReplacer(
	`where = "n > 0"`, `where = "n > 0"
[operators.last]
kind = "filter"
input = "some"
where = "n > 0"`,
	`input = "some"
connector`, `input = "last"
connector`,
	`operators = ["all", "some"]
place = { node = "north-1" }`, `operators = ["all", "some"]
replicas = 3
place = { labels = { role = "worker" } }
[fragments.end]
operators = ["last"]
place = { node = "north-1" }`,
).Replace(bothSources)

// TestLastReplica: of three replicas two die and never come back. The last serves alone, as stable as before; it goes on
// through a failure of its input, and corrects itself without waiting for the permission of the dead.
func TestLastReplica(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies, "south": tallies + talliesExport})
	names := []string{"north-2", "north-3", "north-4"}
	for _, name := range names {
		f.enrol("north", name, worker)
	}
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	north, south := f.nodes["north"], f.nodes["south"]
	f.eventually(func() bool { return len(north.node.members.Members()) == len(names) }, "the labels of the others are known")
	d, err := north.node.Deploy(t.Context(), "both.toml", []byte(bothReplicated), false)
	require.NoError(t, err)
	require.Len(t, d.Assignments, len(names)+1)
	const first = 1_000_000 // numbers of south
	south.pushTallies("south/tallies", "b", first+1, first+10)
	stop := north.trickle("north/tallies")
	f.eventually(func() bool { return north.node.streams.Find("north/both/out") != nil }, "the query runs")
	out := north.follow("north/both/out")
	stable := func(more int, what string) {
		t.Helper()
		before, _ := out.count()
		f.eventually(func() bool { n, _ := out.count(); return n > before+more }, what)
	}
	stable(50, "results come")

	for _, name := range names[1:] {
		f.nodes[name].stop()
		stable(50, "results go on without "+name)
	}
	_, tentative := out.count()
	require.Zero(t, tentative, "one replica is enough")
	for _, p := range north.node.host.Peers() {
		if p.Member.Node == "north-3" || p.Member.Node == "north-4" {
			require.False(t, p.Up, "%s is seen to be missing", p.Member)
			require.NotEmpty(t, p.Cause)
		}
	}

	state := func() dcaa.State { return f.stateOf("north-2", "north/both", "main") }
	south.stop()
	f.eventually(func() bool { return state() == dcaa.UpstreamFailure }, "its input has failed")
	f.eventually(func() bool { _, n := out.count(); return n > 50 }, "tentative results come")
	south.start()
	for _, name := range names[1:] {
		delete(f.nodes, name)
	}
	f.connect()
	south.pushTallies("south/tallies", "b", first+11, first+20)
	f.eventually(func() bool { return state() == dcaa.Stable }, "it has corrected")
	ours := stop()
	f.eventually(func() bool { n, _ := out.count(); return n == ours+20 }, "all rows are stable")
	require.Len(t, out.rows(t), ours+20)
}

// TestStopWhileAHostIsAway: a query of which a host has died can be stopped and started at once. The host, back again,
// runs nothing that was stopped meanwhile and what was started; an outage alone ends nothing.
func TestStopWhileAHostIsAway(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	north, south := f.nodes["north"], f.nodes["south"]
	dir := t.TempDir()
	deploy := func(query string) error {
		_, err := north.node.Deploy(t.Context(), "netmon.toml", []byte(query), false)
		return err
	}
	first := filepath.Join(dir, "first.csv")
	require.NoError(t, deploy(edgeQuery(first)))
	hosted := func() int { return south.node.queries.runningFor("north", "") }
	f.eventually(func() bool { return hosted() == 1 }, "the fragment runs at south")

	south.stop()
	f.eventually(func() bool { return north.node.streams.peersUp() == 1 }, "south is seen to be away")
	v, ok := north.node.queries.book.Get("north/netmon")
	require.True(t, ok)
	require.Equal(t, descriptor.Running, v.State, "an outage stops nothing")
	require.EqualValues(t, 1, v.Epoch, "and moves nothing")
	south.start()
	f.connect()
	f.eventually(func() bool { return hosted() == 1 }, "it runs again")
	f.eventually(func() bool { return len(lines(first)) >= len(wantSuspects) }, "results arrive")
	require.Equal(t, wantSuspects, lines(first))

	south.stop()
	require.NoError(t, north.node.StopQuery("netmon"))
	b := north.node.Backend(nil, func() []string { return nil })
	f.eventually(func() bool {
		q, err := b.Query("netmon")
		return err == nil && !q.Here && q.State == "stopped"
	}, "it is stopped, whoever is away")
	require.ErrorContains(t, deploy(edgeQuery(first)), "no such node is up", "what needs the host cannot be started")
	again := filepath.Join(dir, "again.csv")
	require.NoError(t, deploy(fmt.Sprintf(alone, again)), "what does not, can")
	f.eventually(func() bool { return len(lines(again)) > 6000 }, "results arrive")

	south.start()
	f.connect()
	f.eventually(func() bool { return south.node.queries.started.Load() && hosted() == 0 }, "south has learned that it was stopped")
}

// alone is a query of the name of the others that concerns nobody else.
const alone = `
[query]
name = "netmon"
max_delay = "inf"
[streams.in]
connector = "node"
stream = "north/conns"
time = "ts"
columns = { ts = "timestamp", src = "string", dport = "int64" }
[outputs.out]
input = "in"
connector = "file"
path = %q
`
