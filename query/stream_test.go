package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// parseStream parses a query of one stream s with these keys.
func parseStream(t *testing.T, keys string) *query.Stream {
	t.Helper()
	src := "[query]\nname = \"q\"\n[streams.s]\n" + keys + "\n[outputs.o]\nconnector = \"node\"\ninput = \"s\"\n"
	d, p := query.Parse("q.toml", []byte(src), query.Options{Env: testEnv, Connectors: testConnectors{}})
	require.NoError(t, p.Err())
	return d.Stream("s")
}

func TestStreamColumns(t *testing.T) {
	s := parseStream(t, `
connector = "file"
path = "${DATA}/x.csv"
time = "at"
[streams.s.columns]
at = { from = ["date", "clock"], layout = "2006-01-02 15:04:05", zone = "Europe/Madrid" }
src = { type = "ip", field = "id.orig_h" }
age = { type = "duration", unit = "ms" }
price = "decimal(2)"
tags = "list(string)"
day = { from = ["year", "month", "day"], zone = "Asia/Shanghai" }
`)
	require.Equal(t, "at timestamp, src ip, age duration, price decimal(18,2), tags list(string), day timestamp", s.Schema.String())
	require.Equal(t, []query.Column{
		{Name: "at", Field: "at", From: []string{"date", "clock"}, Layout: "2006-01-02 15:04:05", Zone: "Europe/Madrid"},
		{Name: "src", Field: "id.orig_h"},
		{Name: "age", Field: "age", Unit: 1e6},
		{Name: "price", Field: "price"},
		{Name: "tags", Field: "tags"},
		{Name: "day", Field: "day", From: []string{"year", "month", "day"}, Zone: "Asia/Shanghai"},
	}, s.Columns)
	require.Equal(t, 0, s.Time)
	require.Equal(t, "/var/data/x.csv", s.Keys.Lookup("path").Value.Str)
}

// Input that ends waits for its end; live input goes on; both can be told otherwise.
func TestStreamRules(t *testing.T) {
	bounded := parseStream(t, "connector = \"file\"\npath = \"x\"\ncolumns = { n = \"int64\" }")
	require.Equal(t, query.Rules{
		MaxOutOfOrder: query.Unbounded, Lag: query.Measured, Late: query.LateSide, Idle: query.IdleHold, IdleAfter: 300 * tuple.Millisecond,
		InitDelay: 10 * tuple.Second, Future: query.FutureSide, MaxFutureSkew: query.Unbounded, OnError: query.ErrorSide, MaxRow: 1 << 20,
	}, bounded.Rules)
	live := parseStream(t, "connector = \"http\"\ncolumns = { n = \"int64\" }")
	require.Equal(t, query.Rules{
		MaxOutOfOrder: 0, Lag: query.Measured, Late: query.LateSide, Idle: query.IdleAdvance, IdleAfter: 300 * tuple.Millisecond,
		InitDelay: 10 * tuple.Second, Future: query.FutureSide, MaxFutureSkew: tuple.Minute, OnError: query.ErrorSide, MaxRow: 1 << 20,
	}, live.Rules)
	told := parseStream(t, `
connector = "http"
columns = { n = "int64" }
max_out_of_order = "5s"
lag = "30s"
late = "clamp"
idle_after = "1s"
init_delay = "0s"
future = "clamp"
max_future_skew = "inf"
on_error = "fail"
max_row = "64KiB"
retain = "7d"`)
	require.Equal(t, query.Rules{
		MaxOutOfOrder: 5 * tuple.Second, Lag: 30 * tuple.Second, Late: query.LateClamp, Idle: query.IdleAdvance, IdleAfter: tuple.Second,
		Future: query.FutureClamp, MaxFutureSkew: query.Unbounded, OnError: query.ErrorFail, MaxRow: 64 << 10, Retain: 7 * tuple.Day,
	}, told.Rules)
}

// A connector may bring its own columns and time.
func TestStreamColumnsOfTheConnector(t *testing.T) {
	s := parseStream(t, "connector = \"generate\"\nrows = 10")
	require.Equal(t, "ts timestamp, n int64", s.Schema.String())
	require.Equal(t, []query.Column{{Name: "ts", Field: "ts"}, {Name: "n", Field: "n"}}, s.Columns)
	require.Equal(t, 0, s.Time)
	require.Equal(t, query.Unbounded, s.Rules.MaxOutOfOrder)
	require.Equal(t, "north/q.s", s.StreamName("north", "q"))
}

func TestForeignStream(t *testing.T) {
	s := parseStream(t, "connector = \"node\"\nstream = \"south/netmon/suspects\"\n[streams.s.columns]\nts = \"timestamp\"\nsrc = { type = \"ip\", form = \"pseudonym\", key = \"contract:c\" }")
	require.Equal(t, "south/netmon/suspects", s.Foreign)
	require.Equal(t, s.Foreign, s.StreamName("north", "q"))
	require.Equal(t, -1, s.Time, "its owner stamped the rows")
	require.Equal(t, tuple.Field{Name: "src", Type: tuple.Of(tuple.IP), Form: tuple.Pseudonym, Key: "contract:c"}, s.Schema.Field(1))
}

func TestReadStreams(t *testing.T) {
	var p spec.Problems
	root := spec.ParseTOML("node.toml", []byte("[streams.b]\nconnector = \"http\"\nidle = \"hold\"\ncolumns = { n = \"int64\" }\n"+
		"[streams.a]\nconnector = \"file\"\npath = \"x\"\ncolumns = { n = \"int64\" }\n[streams.bad]\nconnector = \"http\"\n"), nil, &p)
	list := query.ReadStreams(spec.Read(root, &p), testConnectors{})
	require.Len(t, list, 2)
	require.Equal(t, "a", list[0].Name)
	require.Equal(t, query.IdleHold, list[1].Rules.Idle, "a node does not know the queries' bounds")
	require.Len(t, p.Errors, 1)
	require.Equal(t, "streams.bad.columns", p.Errors[0].Path)
}

func TestPlaceText(t *testing.T) {
	p := query.Place{Org: "north", Node: "n1", Labels: "disk=ssd,region=eu"}
	require.Equal(t, "north/n1{disk=ssd,region=eu}", p.String())
	require.Equal(t, map[string]string{"disk": "ssd", "region": "eu"}, p.LabelMap())
	require.Equal(t, "anywhere", query.Place{}.String())
	require.Equal(t, "n1", query.Place{Node: "n1"}.String())
	require.Empty(t, query.Place{}.LabelMap())
}
