package config

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// Files in testdata/bad.txt, and every problem that is found in each, with its place.
func TestBadFiles(t *testing.T) {
	datadriven.RunTest(t, "testdata/bad.txt", func(t *testing.T, d *datadriven.TestData) string {
		c, p := read(d.Input)
		var out string
		for _, w := range p.Warnings {
			out += "warning: " + w.Error() + "\n"
		}
		if err := p.Err(); err != nil {
			require.Nil(t, c)
			return out + err.Error() + "\n"
		}
		return out + "fine\n"
	})
}

const streams = `
[streams.conns]
connector = "file"
path = "conn.log"
format = "zeek"
time = "ts"
[streams.conns.columns]
ts = "timestamp"
src = "ip"
dport = "int64"
`

func TestEverySection(t *testing.T) {
	c := mustRead(t, minimal+`data_dir = "/var/lib/fednode"
[node.labels]
region = "eu"
[listen]
p2p = ""
announce = ["/dns4/a.example/tcp/7481"]
api = "unix:api.sock"
[federation]
dial = "out"
peers = ["/ip4/10.0.0.1/tcp/7481/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"]
clock_skew = "1s"
[[federation.host]]
org = "south"
operators = ["filter", "union"]
[[federation.host]]
org = "east"
max_fragments = 2
max_memory = "64MiB"
[availability]
heartbeat = "50ms"
miss = 5
clock_skew = "200ms"
[checkpoint]
interval = "2s"
[limits]
memory = "1GiB"
[limits.partner]
bytes_per_sec = "1MiB"
[log]
level = "debug"
format = "json"
`+streams+`
[exports.open]
stream = "conns"
to = "south"
where = "dport < 1024"
purpose = "tests"
expires = 2027-12-31
history = "7d"
max_rate = { rows = "50k/s", bytes = "20MiB/s" }
[exports.open.columns]
dport = "drop"
src = { form = "truncate", v4 = 16 }
ts = "keep"
`)
	require.Equal(t, "/var/lib/fednode", c.Node.DataDir)
	require.Equal(t, map[string]string{"region": "eu"}, c.Node.Labels)
	require.Equal(t, Listen{Announce: []string{"/dns4/a.example/tcp/7481"}, API: "unix:api.sock"}, c.Listen)
	require.Equal(t, Federation{DialOut: true, Peers: []string{"/ip4/10.0.0.1/tcp/7481/p2p/12D3KooWEyoppNCUx8Yx66oV9fJnriXwCcXwDDUA2kj6vnc6iDEp"}, ClockSkew: time.Second}, c.Federation)
	require.Equal(t, []Host{{Org: "south", Operators: []string{"filter", "union"}, MaxFragments: 16, MaxMemory: 1 << 30},
		{Org: "east", MaxFragments: 2, MaxMemory: 64 << 20}}, c.Hosts)
	require.Equal(t, Availability{Heartbeat: 50 * time.Millisecond, Miss: 5, ClockSkew: 200 * time.Millisecond, Grace: 20 * time.Millisecond}, c.Availability)
	require.Equal(t, 2*time.Second, c.Checkpoint.Interval)
	require.EqualValues(t, 1<<30, c.Limits.Memory)
	require.EqualValues(t, 1<<20, c.Limits.Partner.BytesPerSec)
	require.Equal(t, Log{Level: "debug", JSON: true}, c.Log)
	x := c.Exports[0]
	require.Equal(t, "north/conns", x.Stream)
	require.Equal(t, []string{"south"}, x.To)
	require.Equal(t, 7*tuple.Day, x.History)
	require.InDelta(t, 50e3, x.Rate.Rows, 0)
	require.InDelta(t, 20<<20, x.Rate.Bytes, 0)
	require.Equal(t, 2027, x.Expires.Year())
	require.Len(t, x.Columns, 2, "in the stream's order, without what is dropped")
	require.Equal(t, "ts", x.Columns[0].Name)
	require.Equal(t, 16, x.Columns[1].V4)
}

func TestPathsStartAtTheFile(t *testing.T) {
	c, p := Read("/etc/fednode/node.toml", []byte(minimal+"[listen]\napi = \"unix:api.sock\"\n"), Options{})
	require.NoError(t, p.Err())
	require.Equal(t, "/etc/fednode", c.Dir)
	require.Equal(t, "/etc/fednode/data", c.Node.DataDir)
	require.Equal(t, "unix:/etc/fednode/api.sock", c.Listen.API)
}

func TestEffective(t *testing.T) {
	text := minimal + "[limits]\nsource_log = \"2048MiB\"\n[node.labels]\nregion = \"eu\"\n[[federation.host]]\norg = \"south\"\nmax_fragments = 3\n"
	got := make(map[string]Setting)
	c := mustRead(t, text)
	for _, s := range c.Effective([]byte(text), nil) {
		require.NotContains(t, got, s.Path)
		got[s.Path] = s
	}
	require.Equal(t, Setting{"limits.source_log", "2GiB", "node.toml:5:1", "restart"}, got["limits.source_log"])
	require.Equal(t, Setting{"listen.api", "127.0.0.1:7480", "default", "restart"}, got["listen.api"])
	require.Equal(t, Setting{"node.labels.region", "eu", "node.toml:7:1", "restart"}, got["node.labels.region"])
	require.Equal(t, Setting{"federation.host[0].max_fragments", "3", "node.toml:10:1", "restart"}, got["federation.host[0].max_fragments"])
	require.Equal(t, Setting{"federation.host[0].max_memory", "1GiB", "default", "restart"}, got["federation.host[0].max_memory"])
	require.Len(t, got, len(Fields())+5)
}

func FuzzRead(f *testing.F) {
	f.Add(minimal)
	f.Add(minimal + streams + "[exports.x]\nstream = \"conns\"\n[exports.x.columns]\nts = { form = \"hash\" }\n")
	f.Add("[node]\norg = 1\n[listen]\napi = \"0.0.0.0:1\"\n[[federation.host]]\n")
	f.Add("[[limits]]\n[exports]\nx = 1\n[api]\ntls_key = \"k\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		c, p := read(text)
		if (c == nil) == p.OK() {
			t.Fatalf("configuration %v, problems %v", c, p.Err())
		}
		if c != nil {
			c.Effective([]byte(text), nil)
		}
	})
}
