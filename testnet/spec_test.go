package testnet

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
)

func TestSpecFile(t *testing.T) {
	s, err := parseSpec("/etc/fed/net.toml", []byte(`
[testnet]
organisations = ["a", "b"]
nodes = 5
data = ["x.csv", "/y.csv"]
query = "q.toml"
speed = 0
lanes = true
limits = { output_buffer = "1MiB", partner = { age = "10s" } }
`))
	require.NoError(t, err)
	require.Equal(t, Spec{Mode: ModeProcess, Organisations: []string{"a", "b"}, Nodes: 5, Seed: 1, Query: "/etc/fed/q.toml", Data: []string{"/etc/fed/x.csv", "/y.csv"},
		Lanes: true, Limits: map[string]string{"output_buffer": "1MiB", "partner.age": "10s"}}, s)
}

// TestSpecFileWrong: every error of a file is said at once, with its place.
func TestSpecFileWrong(t *testing.T) {
	_, err := parseSpec("net.toml", []byte("[testnet]\nmode = \"cloud\"\nnods = 3\nspeed = \"fast\"\n"))
	var e *spec.Error
	require.ErrorAs(t, err, &e)
	require.Len(t, e.Problems, 3)
	require.Contains(t, err.Error(), "net.toml:2:8")
	require.Contains(t, err.Error(), "nodes", "a near name")
}

func TestValidate(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"mode":          func(s *Spec) { s.Mode = "cloud" },
		"no orgs":       func(s *Spec) { s.Organisations = nil },
		"twice":         func(s *Spec) { s.Organisations = []string{"a", "a"} },
		"bad name":      func(s *Spec) { s.Organisations = []string{"../a"} },
		"too many":      func(s *Spec) { s.Nodes = 100 },
		"negative":      func(s *Spec) { s.Nodes = -1 },
		"speed":         func(s *Spec) { s.Speed = -1 },
		"negative rows": func(s *Spec) { s.Rows = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			s := Default()
			require.NoError(t, s.Validate())
			change(&s)
			require.ErrorIs(t, s.Validate(), ErrSpec)
		})
	}
}

// TestSpecSizes: nodes by organisation, sources and replicas; ids have numbers where there are several nodes.
func TestSpecSizes(t *testing.T) {
	s, err := parseSpec("net.toml", []byte(`
[testnet]
mode = "netns"
nodes = { north = 3, east = 2 }
sources = 1
replicas = 1
live = 50
`))
	require.NoError(t, err)
	var ids []string
	feeding := 0
	for _, p := range layout(&s, "/net") {
		ids = append(ids, p.id)
		if p.feeds(&s) {
			feeding++
		}
	}
	require.Equal(t, []string{"north-1", "south", "east-1", "north-2", "east-2", "north-3"}, ids)
	require.Equal(t, 3, feeding)
	for text, says := range map[string]string{
		"replicas = 2":                 "each replica needs a node of its own",
		"nodes = { west = 2 }":         "not among the organisations",
		"nodes = { north = 9 }":        "nodes.north",
		"nodes = 99":                   "99 nodes",
		"live = 5\ndata = [\"a.csv\"]": "data files and live rows",
		"nodes = \"many\"":             "nodes",
		"limits = { partner = 3 }":     "limits.partner",
		"limits = { partner = { partner = { age = \"1s\" } } }": "limits.partner.partner",
	} {
		_, err := parseSpec("net.toml", []byte("[testnet]\n"+text))
		require.ErrorContains(t, err, says, text)
	}
}

// TestDistributeReplicas: every fragment has as many replicas, and streams are only where data enter.
func TestDistributeReplicas(t *testing.T) {
	s := Default()
	s.Nodes, s.Replicas, s.Sources = 6, 2, 1
	d, err := readDiagram(&s)
	require.NoError(t, err)
	text, err := d.distribute(&s, layout(&s, "/net"))
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(text, "replicas = 2"), text)
	require.Equal(t, 3, strings.Count(text, `connector = "node"`), text)
	require.Contains(t, text, "[fragments.core]")
}

// TestDistributeFragments: what a query that is cut already reads is united in the fragment that reads it.
func TestDistributeFragments(t *testing.T) {
	s := Default()
	d, err := readDiagram(&s)
	require.NoError(t, err)
	d.root = spec.ParseTOML("cut.toml", []byte(`
[query]
name = "cut"
[streams.conns]
connector = "file"
time = "ts"
columns = { ts = "timestamp", n = "int64" }
[operators.first]
kind = "filter"
input = "conns"
where = "n > 0"
[operators.second]
kind = "filter"
input = "first"
where = "n > 0"
[fragments.a]
operators = ["first"]
[fragments.b]
operators = ["second"]
`), nil, new(spec.Problems))
	d.entry = d.section("streams").Lookup("conns").Value.Table
	text, err := d.distribute(&s, layout(&s, "/net"))
	require.NoError(t, err)
	require.Contains(t, text, `operators = ["first", "conns"]`)
	require.Contains(t, text, `operators = ["second"]`)
}
