package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/descriptor"
	"fednode/query"
)

const sinkQuery = `
[query]
name = "q"
max_delay = "3s"

[streams.a]
connector = "node"
stream = "south/a"
time = "ts"
columns = { ts = "timestamp", k = "string" }

[operators.few]
kind = "filter"
input = "a"
where = "k = 'x'"

[operators.counts]
kind = "aggregate"
input = "few"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()" }

[outputs.few]
input = "few"
connector = "file"
path = "few.csv"

[outputs.plain]
input = "few"
connector = "node"

[outputs.counts]
input = "counts"
connector = "node"

[fragments.few]
operators = ["few"]
place = { org = "south", node = "s1" }
`

// TestReadersElsewhere shows that the host of a fragment of somebody else's query waits for the sinks of the query's home,
// under the name by which they subscribe, beside the fragments that read the output; and for nobody where there is no sink.
func TestReadersElsewhere(t *testing.T) {
	home := query.Place{Org: "north", Node: "n1"}
	own, problems := query.Parse("q.toml", []byte(sinkQuery), query.Options{Placement: query.Placement{Home: home}})
	require.NoError(t, problems.Err())
	hosts := map[string][]host{"few": {{"south", "s1"}}}
	v := &descriptor.Descriptor{Query: "q", Org: "north", Home: home, Semantics: own.Settings.Semantics, Diagram: own.Canonical("north"), DiagramHash: own.Hash("north")}
	plan, err := v.Plan()
	require.NoError(t, err)
	var few *query.FragmentPlan
	for _, f := range plan.Fragments {
		if f.Name == "few" {
			few = f
			continue
		}
		hosts[f.Name] = []host{{"north", "n1"}}
	}
	require.NotNil(t, few)
	d := &deployment{owner: "north", query: "q", home: home, plan: plan, hosts: hosts}
	readers := d.readers(few)
	require.Contains(t, readers["north/q/few"], "north/n1/q/out.few")
	require.Equal(t, "north/n1/q/out.few", d.sinkName("few"), "the name under which the sink subscribes")
	for stream, names := range readers {
		require.NotContains(t, names, d.sinkName("plain"), stream)
		require.NotContains(t, names, d.sinkName("counts"), stream)
	}
}
