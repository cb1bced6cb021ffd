package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/node/descriptor"
)

// twoEdges places fragments at two partners.
func twoEdges(out string) string {
	more := edges + `
[operators.east_ports]
kind = "filter"
input = "east"
where = "dport > 0"
[fragments.edge_east]
operators = ["east_ports"]
place = { org = "east" }
`
	return strings.Replace(netmonQuery(out, more), `inputs = ["north", "south", "east"]`, `inputs = ["north", "south_ports", "east_ports"]`, 1)
}

// TestRefusedReplaceChangesNothing: as long as one host refuses, the others run what they ran.
func TestRefusedReplaceChangesNothing(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	north := f.nodes["north"].node
	out := filepath.Join(t.TempDir(), "suspects.csv")
	_, err := north.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(out)), false)
	require.NoError(t, err)
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")

	_, err = north.Deploy(t.Context(), "netmon.toml", []byte(twoEdges(out)), true)
	var refused *api.RefusedError
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Error(), "east")
	for _, m := range f.nodes {
		if v, ok := m.node.queries.book.Get("north/netmon"); ok {
			require.EqualValues(t, 1, v.Epoch, m.name)
		}
	}
}

// TestHostThatIsNotNeededAnyMore ends its part of a query that a replacement has taken away from it.
func TestHostThatIsNotNeededAnyMore(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	north, south := f.nodes["north"].node, f.nodes["south"].node
	out := filepath.Join(t.TempDir(), "suspects.csv")
	_, err := north.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(out)), false)
	require.NoError(t, err)
	f.eventually(func() bool { return south.queries.runningFor("north", "") == 1 }, "the fragment runs at south")
	_, err = north.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(out, "")), true)
	require.NoError(t, err)
	f.eventually(func() bool { return south.queries.runningFor("north", "") == 0 }, "it does not any more")
}

// TestStoppedQueryIsErasedAfterACrash: a crash between taking the stop in and erasing leaves nothing for a later query of
// that name.
func TestStoppedQueryIsErasedAfterACrash(t *testing.T) {
	f := threeOrgs(t, nil)
	north := f.nodes["north"]
	out := filepath.Join(t.TempDir(), "suspects.csv")
	_, err := north.node.Deploy(t.Context(), "netmon.toml", []byte(netmonQuery(out, "")), false)
	require.NoError(t, err)
	f.eventually(func() bool { return len(lines(out)) >= len(wantSuspects) }, "results arrive")
	point := func() bool {
		v, ok := north.node.queries.book.Get("north/netmon")
		if !ok {
			return false
		}
		p, _, err := north.node.points.Load("north/netmon/" + v.Assignments[0].Fragment)
		return err == nil && p != nil
	}
	f.eventually(point, "a recovery point is stored")

	// The descriptor of the stop is taken in, and nothing else happens before the node ends.
	held, ok := north.node.queries.book.Get("north/netmon")
	require.True(t, ok)
	d := *held.Descriptor
	d.Epoch++
	d.State = descriptor.Stopped
	v, err := north.node.sign(&d)
	require.NoError(t, err)
	_, err = north.node.queries.book.Adopt(v.Signed, time.Now())
	require.NoError(t, err)
	north.stop()
	north.start()
	f.eventually(func() bool { return north.node.queries.started.Load() && !point() }, "what it left is erased")
}

// TestStoppedQueryOfAPartner leaves our own query of the same name alone.
func TestStoppedQueryOfAPartner(t *testing.T) {
	f := threeOrgs(t, map[string]string{"south": "[[federation.host]]\norg = \"north\"\n"})
	dir := filepath.Join(f.nodes["south"].node.cfg.Node.DataDir, "queries", "netmon")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	north := f.nodes["north"].node
	_, err := north.Deploy(t.Context(), "netmon.toml", []byte(edgeQuery(filepath.Join(t.TempDir(), "suspects.csv"))), false)
	require.NoError(t, err)
	south := f.nodes["south"].node.queries
	f.eventually(func() bool { return south.runningFor("north", "") == 1 }, "the fragment runs at south")
	require.NoError(t, north.StopQuery("netmon"))
	f.eventually(func() bool {
		v, ok := south.book.Get("north/netmon")
		return ok && v.State == descriptor.Stopped && south.runningFor("north", "") == 0
	}, "it is stopped")
	f.nodes["south"].stop()
	require.DirExists(t, dir)
}
