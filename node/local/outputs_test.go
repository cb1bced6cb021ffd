package local

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSeveralOutputs: outputs may share what they show, and show a source itself.
func TestSeveralOutputs(t *testing.T) {
	w := newWorkplace(t, counts+`
[outputs.again]
input = "short"
connector = "file"
path = "again.jsonl"
[outputs.all]
input = "in"
connector = "file"
path = "all.csv"
[operators.large]
kind = "filter"
input = "in"
where = "v >= 2"
[outputs.large]
input = "large"
connector = "file"
path = "large.csv"
`)
	w.put(t, "in.csv", inOrder(4))
	for _, slack := range []string{"inf", "2s"} {
		report, err := w.run(t, "streams.in.max_out_of_order="+slack)
		require.NoError(t, err)
		written := make(map[string]uint64)
		for _, o := range report.Outputs {
			written[o.Name] = o.Rows
		}
		require.Equal(t, map[string]uint64{"out": 2, "again": 2, "all": 4, "large": 2}, written)
		require.Equal(t, "at,k,n,sum\n1700000000,a,2,2\n1700000000,b,2,4\n", w.get(t, "out.csv"))
		require.Equal(t, `{"at":1700000000,"k":"a","n":2,"sum":2}`+"\n"+`{"at":1700000000,"k":"b","n":2,"sum":4}`+"\n", w.get(t, "again.jsonl"))
		require.Equal(t, 5, strings.Count(w.get(t, "all.csv"), "\n"))
		require.Equal(t, "s,k,v\n2023-11-14T22:13:22Z,a,2\n2023-11-14T22:13:23Z,b,3\n", w.get(t, "large.csv"))
	}
}

// TestNothingIsLeftOfARunThatFails: whatever of it cannot be opened or read, no file of another part stays behind.
func TestNothingIsLeftOfARunThatFails(t *testing.T) {
	w := newWorkplace(t, counts+`
[streams.more]
connector = "file"
path = "more.csv"
columns = { x = "int64" }
[outputs.more]
input = "more"
connector = "file"
path = "again.csv"
`)
	w.put(t, "in.csv", inOrder(4))
	w.put(t, "more.csv", "x\n1\nword\n")
	for set, says := range map[string]string{
		"streams.more.path=gone.csv":       "gone.csv: no such file",
		"streams.in.path=*.nothing.csv":    "no file matches",
		"outputs.more.path=no/again.csv":   "create it, or name a file elsewhere",
		"outputs.out.path=no/out.csv":      "create it, or name a file elsewhere",
		"streams.more.columns.y=timestamp": "no field \"y\"",
		"streams.more.on_error=fail":       "on_error = \"fail\"",
	} {
		_, err := w.run(t, set, "streams.more.time=arrival")
		require.ErrorContains(t, err, says)
		files, err := filepath.Glob(filepath.Join(w.dir, "*"))
		require.NoError(t, err)
		require.Equal(t, []string{filepath.Join(w.dir, "in.csv"), filepath.Join(w.dir, "more.csv")}, files, set)
	}
}

// TestStreamNobodyReads: a source that nothing reads is not opened.
func TestStreamNobodyReads(t *testing.T) {
	w := newWorkplace(t, counts+`
[streams.unused]
connector = "file"
path = "is-not-there.csv"
columns = { x = "int64" }
`)
	w.put(t, "in.csv", inOrder(4))
	report, err := w.run(t)
	require.NoError(t, err)
	require.Len(t, report.Streams, 1)
}

// TestForeignStream: a run names the stream that it cannot reach, and what to add.
func TestForeignStream(t *testing.T) {
	w := newWorkplace(t, strings.Replace(counts, `connector = "file"
path = "in.csv"`, `connector = "node"
stream = "south/in"`, 1))
	_, err := w.run(t)
	require.ErrorContains(t, err, "--source in=PATH")
}
