package testnet

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/config"
	"fednode/node/connect/connectors"
	"fednode/query"
	"fednode/query/spec"
)

// TestDistribute: the built-in query over one stream becomes one over all nodes, with a fragment at each partner's.
func TestDistribute(t *testing.T) {
	s := Default()
	s.Nodes = 4
	d, err := readDiagram(&s)
	require.NoError(t, err)
	text, err := d.distribute(&s, layout(&s, "/net"))
	require.NoError(t, err)
	b, at := bind.New(connectors.Kinds()), query.Placement{Home: query.Place{Org: "north", Node: "node-1"}}
	diagram, problems := query.Parse("netmon.toml", []byte(text), query.Options{Connectors: b, Placement: at})
	require.NoError(t, problems.Err(), text)
	b.Finish(diagram)
	places := make(map[string]query.Place)
	for _, f := range query.NewPlan(diagram, at, problems).Fragments {
		places[f.Name] = f.Place
	}
	require.Len(t, places, 3, text)
	require.Equal(t, query.Place{Org: "south", Node: "node-1"}, places["edge_south"])
	require.Equal(t, query.Place{Org: "east", Node: "node-1"}, places["edge_east"])
	require.Contains(t, text, `stream = "north/conns_2"`, "the second node of an organisation has a stream of its own")
}

// TestLanes: what partners send goes through one fragment at home, in which nothing depends on another of them.
func TestLanes(t *testing.T) {
	s := Default()
	s.Nodes, s.Replicas, s.Lanes = 6, 2, true
	d, err := readDiagram(&s)
	require.NoError(t, err)
	text, err := d.distribute(&s, layout(&s, "/net"))
	require.NoError(t, err)
	b, at := bind.New(connectors.Kinds()), query.Placement{Home: query.Place{Org: "north", Node: "node-1"}}
	diagram, problems := query.Parse("netmon.toml", []byte(text), query.Options{Connectors: b, Placement: at})
	require.NoError(t, problems.Err(), text)
	b.Finish(diagram)
	plan := query.NewPlan(diagram, at, problems)
	n := slices.IndexFunc(plan.Fragments, func(f *query.FragmentPlan) bool { return f.Name == lanesFragment })
	require.GreaterOrEqual(t, n, 0, text)
	f := plan.Fragments[n]
	require.Equal(t, 2, f.Replicas)
	require.Len(t, f.Inputs, 4)
	require.Len(t, f.Outputs, 4)
	for _, o := range f.Outputs {
		require.Len(t, o.Unions, 1, o.Stream)
	}
}

// TestNodeFiles: every node's file is one that a daemon takes.
func TestNodeFiles(t *testing.T) {
	for name, data := range map[string]string{"generated": "", "csv": "conns.csv", "zeek": "conn.log"} {
		t.Run(name, func(t *testing.T) {
			s := Default()
			s.Limits = map[string]string{"output_buffer": "1MiB", "partner.age": "10s"}
			if data != "" {
				s.Data = []string{data}
			}
			d, err := readDiagram(&s)
			require.NoError(t, err)
			all := layout(&s, t.TempDir())
			for _, n := range all {
				require.NoError(t, os.MkdirAll(n.dir, 0o700))
				require.NoError(t, writeNodeFile(&s, d, n, all, data, &ports{p2p: "127.0.0.1:0", api: "127.0.0.1:0"}))
				path := filepath.Join(n.dir, configFile)
				src, err := os.ReadFile(path)
				require.NoError(t, err)
				cfg, problems := config.Read(path, src, config.Options{Connectors: bind.New(connectors.Kinds())})
				require.NoError(t, problems.Err(), string(src))
				require.Len(t, cfg.Exports[0].To, 2)
				require.Len(t, cfg.Hosts, min(1, n.orgIndex), "only partners host")
				require.Equal(t, 10*time.Second, cfg.Limits.Partner.Age)
			}
		})
	}
}

func TestDiagramWrong(t *testing.T) {
	for name, c := range map[string]struct{ src, says string }{
		"no stream":    {"[query]\nname = \"q\"\n[streams.a]\nconnector = \"node\"\n", "no stream where data enter"},
		"two streams":  {"[query]\nname = \"q\"\n[streams.a]\nconnector = \"file\"\n[streams.b]\nconnector = \"file\"\n", "a and b"},
		"no query":     {"[streams.a]\nconnector = \"file\"\n", "expected a query"},
		"broken table": {"[query\n", "1:"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseDiagram("q.toml", []byte(c.src))
			require.ErrorContains(t, err, c.says)
		})
	}
}

// TestRender: a tree that is written and read again is the same, order, escapes and variables included.
func TestRender(t *testing.T) {
	const src = `
top = "a\"b\\c"
[s.one]
z = 1
a = 2.0
list = ["x", "$${y}"]
m = { q = true, "odd key" = "\u0001é" }
[s.two]
d = 2026-01-01T00:00:00Z
`
	read := func(text string) string {
		var p spec.Problems
		root := spec.ParseTOML("t.toml", []byte(text), func(string) (string, bool) { return "", false }, &p)
		require.NoError(t, p.Err(), text)
		return render(root)
	}
	once := read(src)
	require.Equal(t, once, read(once))
	require.Contains(t, once, "z = 1\na = 2.0\n")
	require.Contains(t, once, `"$${y}"`)
}
