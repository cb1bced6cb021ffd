package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
)

// What is known of a stream that is declared elsewhere counts like what the query says of it, which comes first.
func TestKnownRates(t *testing.T) {
	warnings := func(rate string) int {
		src := "[query]\nname = \"q\"\n[streams.a]\nconnector = \"node\"\nstream = \"north/a\"\ntime = \"ts\"\n" + rate +
			"columns = { ts = \"timestamp\" }\n[operators.few]\nkind = \"filter\"\ninput = \"a\"\nwhere = \"ts is not null\"\n[outputs.out]\ninput = \"few\"\nconnector = \"node\"\n"
		known := func(stream string) float64 {
			require.Equal(t, "north/a", stream)
			return 20e6
		}
		_, p := query.Parse("q.toml", []byte(src), query.Options{Placement: query.Placement{Home: query.Place{Org: "north", Node: "n1"}}, Rates: known})
		require.NoError(t, p.Err())
		return len(p.Warnings)
	}
	require.Equal(t, 1, warnings(""))
	require.Equal(t, 0, warnings("rate = 1000\n"))
}
