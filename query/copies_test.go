package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCopies shows that a few lines cannot ask for more copies of a row than memory holds, and that a wide diamond is
// still allowed.
func TestCopies(t *testing.T) {
	chain := func(steps int) string {
		var b strings.Builder
		b.WriteString("[query]\nname = \"q\"\nmax_delay = \"inf\"\n[streams.s]\nconnector = \"node\"\nstream = \"a/s\"\ncolumns = { n = \"int64\" }\n")
		last := "s"
		for i := range steps {
			fmt.Fprintf(&b, "[operators.u%d]\nkind = \"union\"\ninputs = [%q, %q]\n", i, last, last)
			last = fmt.Sprintf("u%d", i)
		}
		fmt.Fprintf(&b, "[outputs.o]\ninput = %q\nconnector = \"node\"\n", last)
		return b.String()
	}
	_, p := Parse("q.toml", []byte(chain(10)), Options{})
	require.NoError(t, p.Err())
	_, p = Parse("q.toml", []byte(chain(30)), Options{})
	require.ErrorContains(t, p.Err(), "operators.u10: rows of streams reach it over more than 1024 paths")
}
