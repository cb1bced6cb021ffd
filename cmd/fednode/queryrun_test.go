package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const runQuery = `
[query]
name = "seen"
[streams.in]
connector = "file"
path = "in.csv"
time = "at"
[streams.in.columns]
at = { type = "timestamp", unit = "s" }
who = "string"
[operators.seen]
kind = "aggregate"
input = "in"
window = { tumbling = "10s" }
group_by = ["who"]
aggregates = { n = "count()" }
[operators.short]
kind = "map"
input = "seen"
columns = { who = "who", n = "n" }
[outputs.out]
input = "short"
connector = "file"
path = "out.csv"
`

// runFolder is a folder with a query and its input.
func runFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	files["q.toml"] = runQuery
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// gzipPart packs text and keeps the first part of the result.
func gzipPart(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := z.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	return b.String()[:b.Len()/2]
}

func manyRows() string {
	var b strings.Builder
	b.WriteString("at,who\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "%d,w%d\n", 1_700_000_000+i, i*i%97)
	}
	return b.String()
}

// TestQueryRunExit: the exit code of a run, what it says, and whether there is an output.
func TestQueryRunExit(t *testing.T) {
	const whole = "at,who\n1700000001,ann\n1700000000,bob\n1700000002,ann\n"
	for name, c := range map[string]struct {
		files  map[string]string
		args   []string
		code   int
		says   string
		output bool
	}{
		"all well":              {map[string]string{"in.csv": whole}, nil, exitDone, "wrote  out", true},
		"rows set aside":        {map[string]string{"in.csv": whole + "yesterday,bob\n"}, nil, exitDone, "1 records set aside: 0 late, 0 from the future, 1 unreadable; the first: ", true},
		"late rows":             {map[string]string{"in.csv": whole}, []string{"--set", "streams.in.max_out_of_order=0s"}, exitDone, "1 records set aside: 1 late", true},
		"on_error fail":         {map[string]string{"in.csv": whole + "yesterday,bob\n"}, []string{"--set", "streams.in.on_error=fail"}, exitFailed, `on_error = "fail"`, false},
		"truncated gz":          {map[string]string{"in.csv.gz": gzipPart(t, manyRows())}, []string{"--set", "streams.in.path=in.csv.gz"}, exitFailed, "did not end properly: truncated", true},
		"vanished file":         {map[string]string{"in.csv": whole}, []string{"--set", `streams.in.path=["gone.csv","in.csv"]`}, exitFailed, "did not end properly: vanished", true},
		"no such file":          {nil, nil, exitFailed, "no such file", false},
		"no such query":         {nil, []string{"--set", "x=1", "another.toml"}, exitWrong, "takes 1 argument", false},
		"a source not there":    {map[string]string{"in.csv": whole}, []string{"--source", "inn=in.csv"}, exitWrong, "did you mean `in`", false},
		"a flag without =":      {map[string]string{"in.csv": whole}, []string{"--sink", "out"}, exitWrong, "expected NAME=VALUE", false},
		"an impossible batch":   {map[string]string{"in.csv": whole}, []string{"--batch-rows", "-1"}, exitWrong, "--batch-rows", false},
		"an impossible memory":  {map[string]string{"in.csv": whole}, []string{"--sort-memory", "much"}, exitWrong, "expected a size", false},
		"an unknown flag":       {map[string]string{"in.csv": whole}, []string{"--sauce"}, exitWrong, "--help", false},
		"a query that is wrong": {map[string]string{"in.csv": whole}, []string{"--set", "operators.seen.kind=agregate"}, exitWrong, "aggregate", false},
		"an endless source":     {map[string]string{"in.csv": whole}, []string{"--set", "streams.in.follow=true"}, exitFailed, "does not end", false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.files == nil {
				c.files = make(map[string]string)
			}
			dir := runFolder(t, c.files)
			r := command(t, append([]string{"query", "run", filepath.Join(dir, "q.toml")}, c.args...)...)
			require.Equal(t, c.code, r.code, r.err)
			require.Contains(t, r.err, c.says)
			require.Empty(t, r.out)
			_, err := os.Stat(filepath.Join(dir, "out.csv"))
			require.Equal(t, c.output, err == nil, "out.csv: %v", err)
		})
	}
}

// TestQueryRunOutput: the output is whole, and complete files only have the final name.
func TestQueryRunOutput(t *testing.T) {
	dir := runFolder(t, map[string]string{"in.csv": "at,who\n1700000001,ann\n1700000000,bob\n1700000002,ann\n"})
	ok(t, "query", "run", filepath.Join(dir, "q.toml"))
	got, err := os.ReadFile(filepath.Join(dir, "out.csv"))
	require.NoError(t, err)
	require.Equal(t, "who,n\nann,2\nbob,1\n", string(got))
	_, err = os.Stat(filepath.Join(dir, "out.csv.part"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.Equal(t, `{"who":"ann","n":2}`+"\n"+`{"who":"bob","n":1}`+"\n", ok(t, "query", "run", filepath.Join(dir, "q.toml"), "--sink", "out=-"))
}

// TestQueryRunJSON: with --json one document says what was read and written, and standard error has warnings only.
func TestQueryRunJSON(t *testing.T) {
	dir := runFolder(t, map[string]string{"in.csv": "at,who\n1700000001,ann\n1700000000,bob\nlater,ann\n"})
	var got runJSON
	okJSON(t, &got, "query", "run", filepath.Join(dir, "q.toml"))
	require.Equal(t, "seen", got.Query)
	in := got.Streams["in"]
	require.Equal(t, streamJSON{RowsIn: 2, Errors: 1, Reasons: map[string]uint64{"wrong_type": 1}, End: "eof"}, in)
	require.Equal(t, uint64(2), got.Outputs["out"].RowsOut)
	require.Positive(t, got.RowsPerS)
}

// TestContainerMemory: the limit of the process's control group, of both versions; the smaller where there are two.
func TestContainerMemory(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"nothing":            {nil, 0},
		"version 2":          {map[string]string{"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/memory.max": "536870912\n"}, 512 << 20},
		"version 2, no end":  {map[string]string{"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.max": "max\n"}, 0},
		"version 2, mounted": {map[string]string{"/proc/self/cgroup": "0::/elsewhere\n", "/sys/fs/cgroup/memory.max": "1000\n"}, 1000},
		"version 1": {map[string]string{"/proc/self/cgroup": "8:pids:/x\n4:memory:/x\n0::/\n", "/sys/fs/cgroup/memory/x/memory.limit_in_bytes": "2000\n",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 2000},
		"not a number": {map[string]string{"/proc/self/cgroup": "0::/\nnonsense\n", "/sys/fs/cgroup/memory.max": "much"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, containerMemory(func(path string) ([]byte, error) {
				text, found := c.files[path]
				if !found {
					return nil, fs.ErrNotExist
				}
				return []byte(text), nil
			}))
		})
	}
}
