package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/connect/connectors"
)

// rightQuery is a file without a mistake.
const rightQuery = `[query]
name = "w"
[streams.s]
connector = "file"
path = "s.csv"
time = "ts"
[streams.s.columns]
ts = { type = "timestamp", unit = "s" }
k = "string"
v = "int64"
[operators.a]
kind = "aggregate"
input = "s"
window = { tumbling = "60s" }
group_by = ["k"]
aggregates = { n = "count()" }
[operators.f]
kind = "filter"
input = "a"
where = "n > 1"
[outputs.o]
input = "f"
connector = "file"
path = "out.csv"
`

// startDaemon runs a daemon in this process until the test ends, and has the commands talk to it.
func startDaemon(t *testing.T) {
	t.Helper()
	alone(t)
	dir := newNode(t, "north")
	file := filepath.Join(dir, "node.toml")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	text = []byte(strings.Replace(string(text), "[listen]\n", "[listen]\np2p = \"127.0.0.1:0\"\napi = \"127.0.0.1:0\"\n", 1))
	require.NoError(t, os.WriteFile(file, text, 0o600))
	d, err := newDaemon(file, connectors.Kinds())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- d.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
	})
	t.Setenv("FEDNODE_NODE", d.api.Addr())
	t.Setenv("FEDNODE_TOKEN_FILE", filepath.Join(dir, "api.token"))
}

// TestOneWrongFile: whichever command a wrong file is given to, it says the same of it, at the same places, and no more:
// what validate accepts is not refused later for what stands in the file.
func TestOneWrongFile(t *testing.T) {
	startDaemon(t)
	t.Chdir(t.TempDir())
	for _, c := range []struct{ old, new, says string }{
		{`name = "w"`, `nam = "w"`, "q.toml:2:1: query.nam: unknown key `nam`; did you mean `name`?"},
		{`name = "w"`, `name = "no good"`, "is not a name"},
		{`name = "w"`, `name = "${NOPE}"`, "q.toml:2:9: query.name: the variable NOPE is not set"},
		{`name = "w"`, `name = "w`, "q.toml:2:10: basic strings"},
		{`connector = "file"`, `connector = "fil"`, "did you mean `file`?"},
		{`path = "s.csv"`, `path = "s.dat"`, "does not tell the format"},
		{`path = "s.csv"`, `path = "./"`, "is a directory"},
		{`path = "out.csv"`, `path = "./"`, "is a directory"},
		{`path = "out.csv"`, `path = "out.log"`, "can be read, not written"},
		{`time = "ts"`, `time = "k"`, "event time needs a timestamp"},
		{`v = "int64"`, `v = "decimal(40)"`, "0 to 18"},
		{`kind = "aggregate"`, `kind = "agregate"`, "did you mean `aggregate`?"},
		{`input = "s"`, `input = "t"`, "q.toml:13:9"},
		{`input = "s"`, `input = "f"`, "f"},
		{`tumbling = "60s"`, `tumbling = nan`, "expected a string, got a float"},
		{`count()`, `coun()`, "count"},
		{`n > 1`, `m > 1`, "no column `m`"},
		{`n > 1`, `n > `, "q.toml:20:"},
		{`n > 1`, `n + 1`, "q.toml:20:"},
		{`[outputs.o]`, `[output.o]`, "did you mean `outputs`?"},
		{`group_by = ["k"]`, `group_by = ["q"]` + "\nby = 1", "unknown key `by`"},
	} {
		require.Contains(t, rightQuery, c.old)
		require.NoError(t, os.WriteFile("q.toml", []byte(strings.Replace(rightQuery, c.old, c.new, 1)), 0o600))
		validated := command(t, "query", "validate", "q.toml")
		require.Equal(t, exitWrong, validated.code, "%s\n%s", c.new, validated.err)
		require.Contains(t, validated.err, c.says, c.new)
		for _, args := range [][]string{{"query", "explain", "q.toml"}, {"query", "run", "q.toml"}, {"query", "deploy", "q.toml"}} {
			require.Equal(t, validated, command(t, args...), "%s: %v", c.new, args)
		}
	}
	require.NoError(t, os.WriteFile("q.toml", []byte(rightQuery), 0o600))
	for _, args := range [][]string{{"query", "validate", "q.toml"}, {"query", "deploy", "q.toml"}, {"query", "stop", "w"}} {
		ok(t, args...)
	}
}
