package connectors

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// declare reads a declaration as the query package does, and returns its one-line form or the problems.
func declare(t *testing.T, connector, toml string) (*connect.SourcePlan, string) {
	var p spec.Problems
	table := spec.ParseTOML("q.toml", []byte(toml), nil, &p)
	require.True(t, p.OK())
	s, errs := connect.NewStream("s", []connect.ColumnSpec{{Name: "ts", Type: tuple.Of(tuple.Timestamp), Unit: "s"}, {Name: "src", Type: tuple.Of(tuple.IP)}}, "ts")
	require.Empty(t, errs)
	k, ok := Lookup(connector)
	require.True(t, ok)
	r := spec.Read(table, &p)
	plan := k.Source(r, s)
	r.Done()
	if !p.OK() {
		return plan, p.Err().Error()
	}
	return plan, plan.Detail
}

func TestDeclaredSources(t *testing.T) {
	for _, c := range []struct{ connector, toml, want string }{
		{"file", `path = "conn.log"`, "file conn.log, zeek, read to the end"},
		{"file", `path = ["a.csv", "b/*.csv.gz"]`, "file a.csv b/*.csv.gz, csv, read to the end"},
		{"file", "path = \"x.dat\"\nformat = \"csv\"\ndelimiter = \";\"\nheader = false\nquote = \"\"\nnull = [\"\", \"-\"]\ntrim = true\nmax_row = \"64KiB\"", "file x.dat, csv, read to the end"},
		{"file", "path = \"conn.log\"\nfollow = true", "file conn.log, zeek, followed"},
		{"file", `path = "-"`, "file -, jsonl, read to the end"},
		{"generate", "kind = \"connections\"\nrate = 100\nspeed = 60\nseed = 7\nstart = \"2026-01-01T00:00:00Z\"\ndisorder = \"50ms\"\norg = 2", "generate connections, seed 7, 100 rows/s of event time, speed 60"},
		{"http", "", "http, pushed to us"},
		{"file", ``, "q.toml:1:1: path: the key `path` is missing"},
		{"file", `path = "x.dat"`, "q.toml:1:1: format: the name `x.dat` does not tell the format; add `format`, one of csv, tsv, jsonl, zeek, arrow, parquet"},
		{"file", "path = \"x.csv\"\nformat = \"cvs\"\nfolow = true", "q.toml:2:10: format: `cvs` is not one of csv, tsv, jsonl, zeek, arrow, parquet; did you mean `csv`?\nq.toml:3:1: folow: unknown key `folow`; did you mean `follow`?"},
		{"file", "path = \"x.jsonl\"\ndelimiter = \";\"", "q.toml:2:1: delimiter: unknown key `delimiter`; there are: path, format, max_row, follow"},
		{"file", "path = \"x.csv\"\ndelimiter = \"ab\"\nmax_row = \"1GiB\"", "q.toml:2:13: delimiter: expected one ASCII character, got `ab`\nq.toml:3:11: max_row: 1073741824 bytes is out of range; expected 1024 to 4194304"},
		{"file", "path = \"x*.csv\"\nfollow = true", "q.toml:2:10: follow: one file can be followed, not several; declare a stream for each"},
		{"file", "path = \"x.csv.gz\"\nfollow = true", "q.toml:2:10: follow: a compressed file cannot be followed; read it to its end, without `follow`"},
		{"file", "path = \"x.arrow\"\nfollow = true", "q.toml:2:10: follow: the format arrow cannot be followed; read it to its end, without `follow`"},
		{"generate", "kind = \"conections\"\nrate = 0\nspeed = -1", "q.toml:1:8: kind: `conections` is not one of connections, sensors, bids; did you mean `connections`?\nq.toml:2:8: rate: 0 is out of range; expected 1 to 1000000\nq.toml:3:9: speed: the speed is out of range; expected 0 (as fast as possible) to 1000000"},
		{"generate", "kind = \"sensors\"", "q.toml:1:1: columns.src: the generator sensors has no field `src`; there are: ts, station, pm10, pm25, temperature"},
	} {
		t.Run(c.want, func(t *testing.T) {
			_, got := declare(t, c.connector, c.toml)
			require.Equal(t, c.want, got)
		})
	}
}

// A directory is called one, wherever the query file lies; its files have a format that its name does not tell.
func TestADirectoryAsAPath(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o755))
	schema := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	for _, path := range []string{dir, "logs", "logs/", "elsewhere/"} {
		var p spec.Problems
		table := spec.ParseTOML(filepath.Join(dir, "q.toml"), []byte("path = \""+path+"\""), nil, &p)
		k, _ := Lookup("file")
		require.Nil(t, k.Source(spec.Read(table, &p), &connect.Stream{}))
		require.Nil(t, k.Sink(spec.Read(table, &p), &connect.SinkStream{Name: "out", Schema: schema}))
		require.Len(t, p.Errors, 2)
		require.Equal(t, "path", p.Errors[0].Path)
		require.Equal(t, "`"+path+"` is a directory: its name does not tell the format of its files", p.Errors[0].Msg)
		require.Contains(t, p.Errors[0].Hint, "add `format`")
		require.Equal(t, "`"+path+"` is a directory, and what is written is a file", p.Errors[1].Msg)
		require.Contains(t, p.Errors[1].Hint, "out.csv")
	}
}

func TestParquetIsRefusedWhereItIsNotBuiltIn(t *testing.T) {
	plan, got := declare(t, "file", `path = "x.parquet"`)
	if format.HasParquet {
		require.NotNil(t, plan)
		return
	}
	require.Nil(t, plan)
	require.Contains(t, got, "build it with `-tags parquet`, or convert the file to Arrow")
}

func TestPlansSayHowTheyBehave(t *testing.T) {
	bounded, _ := declare(t, "file", `path = "conn.log"`)
	require.True(t, bounded.Bounded)
	require.False(t, bounded.Live)
	require.True(t, bounded.Disordered, "Zeek writes a connection when it ends")
	live, _ := declare(t, "file", "path = \"x.csv\"\nfollow = true")
	require.False(t, live.Bounded)
	require.True(t, live.Live)
	made, _ := declare(t, "generate", "rows = 5")
	require.True(t, made.Bounded)
}

func TestAnotherPathForADeclaredSource(t *testing.T) {
	plan, _ := declare(t, "file", "path = \"conn.csv\"\ndelimiter = \";\"\nfollow = true")
	require.Equal(t, "file x.binetflow, csv, read to the end", plan.WithPath("x.binetflow").Detail)
	require.Equal(t, "file x.log.gz, zeek, read to the end", plan.WithPath("x.log.gz").Detail)
	require.True(t, plan.WithPath("x.csv").Bounded)
	made, _ := declare(t, "generate", "")
	require.Nil(t, made.WithPath)
}

func TestDeclaredSinks(t *testing.T) {
	schema := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	for _, c := range []struct{ toml, want string }{
		{`path = "out.csv"`, "file out.csv, csv"},
		{"path = \"out.jsonl.zst\"\nnan = \"string\"", "file out.jsonl.zst, jsonl"},
		{`path = "-"`, "file -, jsonl"},
		{`path = "out.arrow"`, "q.toml:1:1: format: an Arrow file is whole only when it is closed, so a live query cannot write one; write csv or jsonl"},
		{`path = "out.log"`, "q.toml:1:1: format: the format zeek can be read, not written; write csv, tsv, jsonl or arrow"},
		{`pth = "out.csv"`, "q.toml:1:1: pth: unknown key `pth`; did you mean `path`?"},
	} {
		t.Run(c.want, func(t *testing.T) {
			var p spec.Problems
			table := spec.ParseTOML("q.toml", []byte(c.toml), nil, &p)
			r := spec.Read(table, &p)
			k, _ := Lookup("file")
			plan := k.Sink(r, &connect.SinkStream{Name: "out", Schema: schema})
			r.Done()
			if !p.OK() {
				require.Equal(t, c.want, p.Err().Error())
				return
			}
			require.Equal(t, c.want, plan.Detail)
			other, err := plan.WithPath("y.jsonl")
			require.NoError(t, err)
			require.Equal(t, "file y.jsonl, jsonl", other.Detail)
			_, err = plan.WithPath("y.arrow")
			require.ErrorContains(t, err, "a live query cannot write one")
		})
	}
}

func TestTheTable(t *testing.T) {
	require.Equal(t, "file generate http", strings.Join(Sources(), " "))
	require.Equal(t, "file postgres", strings.Join(Sinks(), " "))
	_, ok := Lookup("kafka")
	require.False(t, ok)
}

// The postgres sink says everything that is wrong with its declaration at once, and where.
func TestDeclaredTables(t *testing.T) {
	schema := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "tags", Type: tuple.ListOf(tuple.Of(tuple.String))},
		tuple.Field{Name: "_state", Type: tuple.Of(tuple.String)})
	named := map[string]connect.Database{"warehouse": {}}
	for _, c := range []struct {
		databases  map[string]connect.Database
		toml, want string
	}{
		{named, "database = \"warehouse\"\ntable = \"t\"", "postgres warehouse, table t, appended"},
		{nil, "database = \"elsewhere\"\ntable = \"s.t\"\nkey = \"n\"\ntentative = \"write\"", "postgres elsewhere, table s.t, by n, tentative rows too"},
		{named, "", "q.toml:1:1: database: the key `database` is missing\nq.toml:1:1: table: the key `table` is missing"},
		{named, "database = \"warehose\"\ntable = \"t\"", "q.toml:1:12: database: this node's file names no database `warehose`; did you mean `warehouse`?"},
		{map[string]connect.Database{}, "database = \"d\"\ntable = \"t\"", "q.toml:1:12: database: this node's file names no database `d`; add [connect.postgres.d] with a connection to node.toml"},
		{named, "database = \"warehouse\"\ntable = \"a.b.c\"", "q.toml:2:9: table: `a.b.c` is not the name of a table; write TABLE or SCHEMA.TABLE, without quotes; each name has at most 63 bytes"},
		{named, "database = \"warehouse\"\ntable = \".t\"", "q.toml:2:9: table: `.t` is not the name of a table; write TABLE or SCHEMA.TABLE, without quotes; each name has at most 63 bytes"},
		{named, "database = \"warehouse\"\ntable = \"fednode_positions\"", "q.toml:2:9: table: the sink keeps a table `fednode_positions` for itself; choose another name"},
		{named, "database = \"warehouse\"\ntable = \"t\"\nkey = [\"m\", \"tags\"]\ntimeout = \"1ms\"",
			"q.toml:3:8: key: no column `m` in the output; there are: n, tags, _state\nq.toml:3:13: key: `tags` is a list, and cannot be part of a key\nq.toml:4:11: timeout: 1ms is out of range; expected 1s to 1h"},
		{named, "database = \"warehouse\"\ntable = \"t\"\ntentative = \"tag\"",
			"q.toml:3:13: tentative: tentative rows can be taken back only by a key; add key = [\"COLUMN\", …], or leave it out\nq.toml:3:13: tentative: tentative = \"tag\" needs the name `_state` for itself; rename the column with a map"},
	} {
		t.Run(c.want, func(t *testing.T) {
			var p spec.Problems
			r := spec.Read(spec.ParseTOML("q.toml", []byte(c.toml), nil, &p), &p)
			k, _ := Lookup("postgres")
			plan := k.Sink(r, &connect.SinkStream{Name: "out", Schema: schema, Databases: c.databases})
			r.Done()
			if !p.OK() {
				p.Sort()
				require.Equal(t, c.want, p.Err().Error())
				return
			}
			require.Equal(t, c.want, plan.Detail)
			_, err := plan.New(connect.Env{}).Recover(t.Context(), nil)
			require.ErrorContains(t, err, "only a node knows the database; write to a file here, with --sink out=PATH")
			if c.databases != nil {
				_, err = plan.New(connect.Env{}).Recover(t.Context(), []byte{1, 2, 3}) // as a file's sink stores
				require.ErrorContains(t, err, "what is stored for this output is of another connector")
			}
		})
	}
}
