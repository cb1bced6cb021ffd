package node

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/query"
)

// planOfReplicas plans a query with one declared fragment.
func planOfReplicas(t *testing.T, fragment string) (*loadedQuery, *query.FragmentPlan) {
	t.Helper()
	src := "[query]\nname = \"q\"\nmax_delay = \"3s\"\n[streams.a]\nconnector = \"node\"\nstream = \"north/a\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\" }\n" +
		"[operators.few]\nkind = \"filter\"\ninput = \"a\"\nwhere = \"ts is not null\"\n[outputs.out]\ninput = \"few\"\nconnector = \"node\"\n[fragments.f]\noperators = [\"few\"]\n" + fragment
	at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}}
	d, problems := query.Parse("q.toml", []byte(src), query.Options{Placement: at})
	require.NoError(t, problems.Err())
	plan := query.NewPlan(d, at, problems)
	require.Len(t, plan.Fragments, 1)
	return &loadedQuery{diagram: d, plan: plan}, plan.Fragments[0]
}

// nodesUp are four nodes of north in two racks, the first of them this one, and two of south.
func nodesUp(org string) []candidate {
	node := func(name string, labels map[string]string) candidate {
		return candidate{host: host{org, name}, peer: peer.ID(name), labels: labels}
	}
	if org == "south" {
		return []candidate{node("s1", nil), node("s2", nil)}
	}
	return []candidate{node("n1", map[string]string{"rack": "a", "disk": "ssd"}), node("n2", map[string]string{"rack": "a", "disk": "ssd"}),
		node("n3", map[string]string{"rack": "b", "disk": "ssd"}), node("n4", map[string]string{"rack": "b"})}
}

func TestPlacement(t *testing.T) {
	at := func(nodes string) (out []host) {
		for _, n := range strings.Fields(nodes) {
			out = append(out, host{"north", n})
		}
		return out
	}
	for _, c := range []struct{ name, fragment, running, want string }{
		{"one replica is at home", "", "", "n1"},
		{"several are spread over labels", "replicas = 2", "", "n1 n4"},
		{"all that fit", "replicas = 4", "", "n1 n4 n2 n3"},
		{"labels are asked for", "replicas = 2\nplace = { labels = { disk = \"ssd\" } }", "", "n1 n3"},
		{"one replica by labels", "place = { labels = { rack = \"b\" } }", "", "n3"},
		{"those that run stay", "replicas = 2", "n2 n3", "n2 n3"},
		{"one that has gone is replaced", "replicas = 2", "n9 n3", "n3 n1"},
		{"one that fits no more is replaced", "replicas = 2\nplace = { labels = { disk = \"ssd\" } }", "n4 n2", "n2 n3"},
		{"fewer than run", "replicas = 2", "n2 n3 n4", "n2 n3"},
		{"a node by name", "place = { node = \"n4\" }", "n2", "n4"},
		{"a partner's nodes", "replicas = 2\nplace = { org = \"south\" }", "", "s1 s2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, f := planOfReplicas(t, c.fragment)
			chosen, err := newPlacement(l, f, nodesUp).choose(at(c.running))
			require.NoError(t, err)
			var got []string
			for _, n := range chosen {
				got = append(got, n.Node)
			}
			require.Equal(t, c.want, strings.Join(got, " "))
		})
	}
}

func TestPlacementRefused(t *testing.T) {
	for _, c := range []struct {
		name, fragment string
		says           []string
	}{
		{"too few nodes", "replicas = 5", []string{"5 replicas", "only 4", "n1, n2, n3, n4"}},
		{"a node cannot have two", "replicas = 2\nplace = { node = \"n2\" }", []string{"2 replicas", "only 1", "n2"}},
		{"no such label", "place = { labels = { disk = \"tape\" } }", []string{"no such node is up"}},
		{"labels of a partner", "place = { org = \"south\", labels = { disk = \"ssd\" } }", []string{"labels of s1, s2 are not known", "node ="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, f := planOfReplicas(t, c.fragment)
			_, err := newPlacement(l, f, nodesUp).choose(nil)
			var refused *api.RefusedError
			require.ErrorAs(t, err, &refused)
			for _, part := range c.says {
				require.Contains(t, refused.Error(), part)
			}
		})
	}
}
