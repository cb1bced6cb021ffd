package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/flow"
	"fednode/query/tuple"
)

// TestStopsBesideAReaderThatStands: a partner that is alive and does not read what it has asked for keeps no node from
// stopping.
func TestStopsBesideAReaderThatStands(t *testing.T) {
	const rows = 500_000 // more than a connection and the partner's cursor hold
	file := filepath.Join(t.TempDir(), "conns.csv")
	var b strings.Builder
	b.WriteString("ts,src,dport\n")
	for i := range rows {
		fmt.Fprintf(&b, "%d,a,%d\n", 1_700_000_000_000+i, i)
	}
	require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o600))
	f := newFed(t, map[string]string{"north": connsOf(file), "south": ""})
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	north, south := f.nodes["north"], fragmentNetwork{n: f.nodes["south"].node, org: "south"}
	c, err := south.OpenFrom(t.Context(), "north/*", "north/conns", flow.Subscriber{Name: "south/south-1/reader", From: tuple.Position{Time: tuple.MinTime}})
	require.NoError(t, err)
	defer c.Close()
	f.eventually(func() bool { return north.node.streams.Find("north/conns").Head().ID == rows }, "all rows are there")
	north.stop()
}
