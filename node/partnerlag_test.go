package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/node/connect/format"
	"fednode/node/connect/push"
)

// tallies are pushed rows whose time is their arrival, so that none is late however slow the machine is.
const tallies = `
[streams.tallies]
connector = "http"
time = "arrival"
columns = { kind = "string", n = "int64" }
`

const talliesExport = `
[exports.tallies]
stream = "tallies"
to = ["north", "south"]
columns = { kind = "keep", n = "keep" }
`

// copyOf is a query that writes a stream to a file as it is.
func copyOf(name, stream, path string) string {
	return fmt.Sprintf(`
[query]
name = %q
max_delay = "inf"
[streams.in]
connector = "node"
stream = %q
time = "arrival"
columns = { kind = "string", n = "int64" }
[outputs.out]
input = "in"
connector = "file"
path = %q
`, name, stream, path)
}

// pushTallies pushes rows of one kind, numbered from first to last, and returns when they are durable.
func (m *party) pushTallies(stream, kind string, first, last int) {
	m.t.Helper()
	var body strings.Builder
	for n := first; n <= last; n++ {
		fmt.Fprintf(&body, "{\"kind\":%q,\"n\":%d}\n", kind, n)
	}
	target, err := m.node.Backend(nil, nil).PushTarget(stream)
	require.NoError(m.t, err)
	ctx, cancel := context.WithTimeout(m.t.Context(), patient)
	defer cancel()
	blocks, err := push.Decode(ctx, target.Shape, format.DefaultOptions(format.JSONL), "body", strings.NewReader(body.String()), 1<<20)
	require.NoError(m.t, err)
	for err = push.ErrClosed; errors.Is(err, push.ErrClosed) && ctx.Err() == nil; { // right after a start nobody reads it
		err = target.Inbox.Push(ctx, "", blocks)
	}
	require.NoError(m.t, err)
}

func (m *party) source(stream string) api.SourceStatus {
	m.t.Helper()
	for _, s := range m.node.Backend(nil, func() []string { return nil }).Status().Sources {
		if s.Stream == stream {
			return s
		}
	}
	require.FailNow(m.t, "no source", stream)
	return api.SourceStatus{}
}

// lag returns by how many rows the slowest subscriber of an organisation is behind a stream; none is -1.
func (m *party) lag(stream, org string) int {
	s := m.source(stream)
	lag := -1
	for _, sub := range s.Subscribers {
		if strings.HasPrefix(sub.Name, org+"/") {
			lag = max(lag, int(s.Head.ID-sub.Acknowledged.ID))
		}
	}
	return lag
}

// TestLagOfAPartner: while a partner is away, the status of the stream tells how far it is behind, which grows with every
// row; once it is back it catches up by itself, and has every row once.
func TestLagOfAPartner(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies + talliesExport, "south": ""})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	f.connect()
	out := filepath.Join(t.TempDir(), "copy.csv")
	_, err := south.node.Deploy(t.Context(), "copy.toml", []byte(copyOf("copy", "north/tallies", out)), false)
	require.NoError(t, err)
	north.pushTallies("north/tallies", "a", 1, 10)
	f.eventually(func() bool { return north.lag("north/tallies", "south") == 0 }, "south has acknowledged what there is")

	south.stop()
	for i := range 5 {
		north.pushTallies("north/tallies", "a", 11+i*100, 110+i*100)
		require.Equal(t, 100*(i+1), north.lag("north/tallies", "south"), "nobody acknowledges")
	}
	south.start()
	f.connect()
	f.eventually(func() bool { return north.lag("north/tallies", "south") == 0 }, "south has caught up")
	f.eventually(func() bool { return len(lines(out)) >= 511 }, "all rows are written")
	got := lines(out)
	require.Equal(t, "kind,n", got[0])
	for i, line := range got[1:] {
		require.Equal(t, fmt.Sprintf("a,%d", i+1), line)
	}
}
