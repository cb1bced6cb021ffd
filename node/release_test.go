package node

import (
	"maps"
	"slices"
	"testing"
	"time"

	"fednode/node/flow"
	"fednode/query"
	"fednode/query/tuple"
)

// TestRelease shows that after a query has been replaced a stream waits for what reads it now, and no longer for a
// fragment that has moved, has gone, or reads something else; other queries' subscribers stay.
func TestRelease(t *testing.T) {
	n := &Node{streams: newStreams("north", nil, time.Now)}
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	before := []string{"north/n1/other/f", "north/n1/q/stays", "north/n1/q/moves", "north/n1/q/goes", "north/n1/q/turns"}
	out := flow.NewOutput(flow.OutputConfig{Name: "north/a", Schema: schema, Limit: 1, Generation: 1, Expected: append(before, "north/n2/q/moves")})
	n.streams.put(out, nil)
	part := func(node string, fragments map[string]string) *deployment {
		d := &deployment{n: n, owner: "north", query: "q", plan: &query.Plan{}, hosts: make(map[string][]host)}
		for name, stream := range fragments {
			d.plan.Fragments = append(d.plan.Fragments, &query.FragmentPlan{Name: name, Inputs: []query.FragmentInput{{Stream: stream}}})
			d.hosts[name] = []host{{"north", "n1"}}
		}
		d.hosts["moves"] = []host{{"north", node}}
		return d
	}
	old := part("n1", map[string]string{"stays": "north/a", "moves": "north/a", "goes": "north/a", "turns": "north/a"})
	now := part("n2", map[string]string{"stays": "north/a", "moves": "north/a", "turns": "north/b"})
	old.release(now.claims())
	want := []string{"north/n1/other/f", "north/n1/q/stays", "north/n2/q/moves"}
	if got := slices.Sorted(maps.Keys(out.Subscribers())); !slices.Equal(got, want) {
		t.Fatalf("counted are %q, want %q", got, want)
	}
}
