package query

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestColumnNames: a name goes to terminals and logs, and must not steer them.
func TestColumnNames(t *testing.T) {
	_, p := Parse("q.toml", []byte("[query]\nname = \"q\"\n[streams.s]\nconnector = \"node\"\nstream = \"a/s\"\ncolumns = { \"\\u001b[31m\" = \"int64\" }\n"), Options{})
	require.ErrorContains(t, p.Err(), `the name of the column "\x1b[31m" has control characters`)
	require.NotContains(t, p.Err().Error(), "\x1b")
}
