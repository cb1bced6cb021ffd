package node

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
)

// A query that is given to a node is warned of what streams are declared to have in the node's file, be it said by `rate` or by a generator's
// keys, and of nothing where nothing is said.
func TestDeclaredRates(t *testing.T) {
	pushed, made := "connector = \"http\"\n", "connector = \"generate\"\nkind = \"sensors\"\n"
	for _, c := range []struct {
		says, column string
		want         int
	}{
		{pushed, "n = \"int64\"", 0},
		{pushed + "rate = 30000000\n", "n = \"int64\"", 1},
		{made + "rate = 30000\nspeed = 1000\n", "station = \"string\"", 1},
		{made + "rate = 30000\nspeed = 1\n", "station = \"string\"", 0},
		{"connector = \"node\"\nstream = \"north/one\"\nrate = 30000000\n", "n = \"int64\"", 1},
	} {
		toml := tomlOf("north", "n1", fmt.Sprintf("[streams.one]\n%stime = \"ts\"\ncolumns = { ts = \"timestamp\", %s }\n", c.says, c.column))
		cfg, problems := config.Read("node.toml", []byte(toml), config.Options{Connectors: bind.New(connectors.Kinds())})
		require.NoError(t, problems.Err(), c.says)
		n := &Node{cfg: cfg, kinds: connectors.Kinds()}
		l, err := n.loadQuery("q.toml", mergeOf("q", "north/one", "south/two"))
		require.NoError(t, err)
		require.Len(t, l.warnings, c.want, c.says)
	}
}
