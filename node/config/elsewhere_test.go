package config

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
)

// TestStreamElsewhere shows that a node can declare, and export, a stream that another node of its organisation has, and no
// other.
func TestStreamElsewhere(t *testing.T) {
	read := func(stream string) (*Config, error) {
		c, p := Read("node.toml", []byte(`
[node]
org = "south"
name = "s2"
[streams.conns]
connector = "node"
stream = "`+stream+`"
time = "ts"
columns = { ts = "timestamp", src = "ip" }
[exports.conns]
stream = "conns"
to = ["north"]
columns = { ts = "keep", src = { form = "truncate", v4 = 24, v6 = 48 } }
`), Options{Env: os.LookupEnv, Connectors: bind.New(connectors.Kinds())})
		return c, p.Err()
	}
	c, err := read("south/conns")
	require.NoError(t, err)
	require.Equal(t, "south/conns", c.Exports[0].Stream)
	for _, wrong := range []string{"north/conns", "south/other"} {
		_, err = read(wrong)
		require.ErrorContains(t, err, `write stream = "south/conns"`)
	}
}
