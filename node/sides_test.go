package node

import (
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// spotty is a file of connections of which one came 6.5 s late, with 2 s of slack, and two lines cannot be read.
const spotty = "ts,src,dport\n0,10.0.0.1,1\n1000,10.0.0.1,2\n9000,10.0.0.1,3\n500,10.0.0.2,4\n9000,10.0.0.3,many\nnonsense\n10000,10.0.0.1,5\n"

// tailed reads a stream of a node to its end, as the API does: one line a row, with its id.
func tailed(t *testing.T, n *Node, stream string, names ...string) (got []string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	tail, err := n.Backend(nil, nil).Tail(ctx, stream, api.TailFrom{Beginning: true})
	require.NoError(t, err)
	defer tail.Close()
	for {
		f, err := tail.Next(ctx)
		require.NoError(t, err, "%s after %q", stream, got)
		if f.Kind == tuple.Boundary && f.Time == tuple.MaxTime {
			return got
		}
		if f.Kind != tuple.Insertion {
			continue
		}
		for i := range f.Batch.Rows() {
			line := fmt.Sprint(f.FirstID + uint64(i))
			for _, name := range names {
				at, ok := f.Batch.Schema.Index(name)
				require.True(t, ok, name)
				line += " " + string(f.Batch.Cols[at].AppendText(nil, f.Batch.Row(i)))
			}
			got = append(got, line)
		}
	}
}

// spottyNode is an organisation with a spotty stream, which a partner may read.
func spottyNode(t *testing.T) (f *fed, file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "conns.csv")
	require.NoError(t, os.WriteFile(file, []byte(spotty), 0o600))
	toml := strings.Replace(connsOf(file), "time = \"ts\"\n", "time = \"ts\"\nmax_out_of_order = \"2s\"\n", 1)
	f = newFed(t, map[string]string{"north": toml, "south": ""})
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	return f, file
}

func hexed(s string) string { return hex.EncodeToString([]byte(s)) }

// TestTailWhatIsSetAside shows that what a stream sets aside can be followed by name, and is the same after a restart.
func TestTailWhatIsSetAside(t *testing.T) {
	f, file := spottyNode(t)
	north := f.nodes["north"]
	for range 2 {
		require.Equal(t, []string{`1 late 1970-01-01T00:00:07Z 1970-01-01T00:00:00.5Z {"ts":"1970-01-01T00:00:00.5Z","src":"10.0.0.2","dport":4}`},
			tailed(t, north.node, "north/conns.late", "reason", "limit", "time", "row"))
		require.Equal(t, []string{
			"1 wrong_type dport " + file + " 6 " + hexed("9000,10.0.0.3,many"),
			"2 field_count  " + file + " 7 " + hexed("nonsense"),
		}, tailed(t, north.node, "north/conns.errors", "reason", "field", "file", "line", "raw"))
		require.Len(t, tailed(t, north.node, "north/conns", "ts"), 4)
		north.stop()
		north.start()
	}
}

// TestWhatIsSetAsideStays shows that an export of a stream does not let a partner have what the stream has set aside.
func TestWhatIsSetAsideStays(t *testing.T) {
	f, _ := spottyNode(t)
	south := fragmentNetwork{n: f.nodes["south"].node, org: "south"}
	sub := flow.Subscriber{Name: "south/south-1/reader", From: tuple.Position{Time: tuple.MinTime}}
	c, err := south.OpenFrom(t.Context(), "north/*", "north/conns", sub)
	require.NoError(t, err, "the stream itself is exported")
	c.Close()
	for _, name := range []string{"north/conns.late", "north/conns.errors"} {
		_, err := south.OpenFrom(t.Context(), "north/*", name, sub)
		var refused *flow.RefusedError
		require.ErrorAs(t, err, &refused, name)
		require.Contains(t, refused.Error(), "no [exports] entry")
	}
}

// TestQuerysOwnSides shows that a stream which a query declares has side streams as long as the query runs, and that no
// partner has them, even one that reads the stream.
func TestQuerysOwnSides(t *testing.T) {
	f, file := spottyNode(t)
	north := f.nodes["north"].node
	text := fmt.Sprintf(`
[query]
name = "own"
max_delay = "inf"
[streams.mine]
connector = "file"
path = %q
time = "ts"
max_out_of_order = "2s"
%s
[operators.some]
kind = "filter"
input = "mine"
where = "dport > 0"
[outputs.out]
input = "some"
connector = "file"
path = %q
`, file, strings.ReplaceAll(connColumns, "streams.conns", "streams.mine"), filepath.Join(t.TempDir(), "out.csv"))
	_, err := north.Deploy(t.Context(), "own.toml", []byte(text), false)
	require.NoError(t, err)
	f.eventually(func() bool { return north.streams.Find("north/own.mine.late") != nil }, "the query runs")
	require.Len(t, tailed(t, north, "north/own.mine.late", "row"), 1)
	require.Len(t, tailed(t, north, "north/own.mine.errors", "raw"), 2)
	_, err = north.streams.Permit("north/own.mine.errors", "south")
	require.ErrorContains(t, err, "stays with its organisation")
	_, err = north.streams.Permit("north/own.mine.errors", "north")
	require.NoError(t, err)
	require.NoError(t, north.StopQuery("own"))
	f.eventually(func() bool {
		return north.streams.Find("north/own.mine.late") == nil && north.streams.Find("north/own.mine.errors") == nil
	}, "they go with the query")
}
