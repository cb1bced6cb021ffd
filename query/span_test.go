package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// TestSpan shows how far back the results of a fragment depend on its input: by the longest way through its operators.
func TestSpan(t *testing.T) {
	for _, c := range []struct {
		name, operators string
		want            string
		ok              bool
	}{
		{"stateless", `[operators.o]
kind = "filter"
input = "s"
where = "n > 0"`, "0s", true},
		{"one behind the other, beside a shorter way", `[operators.a]
kind = "aggregate"
input = "s"
window = { tumbling = "60s" }
group_by = ["k"]
aggregates = { n = "sum(n)" }
[operators.d]
kind = "dedup"
input = "a"
by = ["k"]
within = "10s"
[operators.f]
kind = "filter"
input = "s"
where = "n > 0"
[operators.e]
kind = "map"
input = "f"
columns = { k = "k", n = "n" }
[operators.o]
kind = "union"
inputs = ["d2", "e"]
[operators.d2]
kind = "map"
input = "d"
columns = { k = "k", n = "n" }`, "1m10s", true},
		{"all that ever came", `[operators.o]
kind = "throttle"
input = "s"
key = ["k"]
type = "limit"
count = 3
per = "1m"`, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := "[query]\nname = \"q\"\n[streams.s]\nconnector = \"file\"\ncolumns = { k = \"string\", n = \"int64\" }\n" + c.operators +
				"\n[outputs.out]\nconnector = \"file\"\ninput = \"o\"\n"
			d, p := query.Parse("q.toml", []byte(src), query.Options{Kinds: op.Kinds(), Placement: query.Placement{Local: true}})
			require.NoError(t, p.Err())
			var problems spec.Problems
			plan := query.NewPlan(d, query.Placement{Local: true}, &problems)
			require.Len(t, plan.Fragments, 1)
			span, ok := plan.Fragments[0].Span()
			require.Equal(t, c.ok, ok)
			if ok {
				require.Equal(t, c.want, string(tuple.AppendDuration(nil, span)))
			}
		})
	}
}
