package node

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const withSilent = `
[query]
name = "both"
max_delay = "inf"
[streams.busy]
connector = "node"
stream = "solo/tallies"
time = "arrival"
columns = { kind = "string", n = "int64" }
[streams.silent]
connector = "node"
stream = "solo/silent"
time = "arrival"
columns = { kind = "string", n = "int64" }
[operators.busy_sums]
kind = "aggregate"
input = "busy"
window = { tumbling = "1s" }
group_by = ["kind"]
aggregates = { n = "sum(n)" }
[operators.silent_sums]
kind = "aggregate"
input = "silent"
window = { tumbling = "1s" }
group_by = ["kind"]
aggregates = { n = "sum(n)" }
[operators.both]
kind = "join"
left = "busy_sums"
right = "silent_sums"
on = ["kind"]
type = "left"
window = "same"
columns = { busy = "left.n", silent = "right.n" }
[outputs.out]
input = "both"
connector = "file"
path = `

// soon makes a stream whose time goes on soon although it has never sent anything.
func soon(stream string) string {
	return strings.Replace(stream, "columns", "init_delay = \"50ms\"\ncolumns", 1)
}

// TestASilentInputHoldsNobody: a source that never sends anything is waited for no longer than init_delay; the results of
// what it is joined with then come, with nothing from it.
func TestASilentInputHoldsNobody(t *testing.T) {
	f := newFed(t, map[string]string{"solo": tallies + soon(strings.ReplaceAll(tallies, "tallies", "silent"))})
	solo := f.nodes["solo"]
	solo.start()
	out := filepath.Join(t.TempDir(), "both.csv")
	_, err := solo.node.Deploy(t.Context(), "both.toml", []byte(withSilent+strconv.Quote(out)), false)
	require.NoError(t, err)
	solo.pushTallies("solo/tallies", "a", 1, 10)
	sum := func() (n int) {
		for _, line := range lines(out)[min(1, len(lines(out))):] {
			cells := strings.Split(line, ",")
			require.Equal(t, []string{"a", ""}, []string{cells[2], cells[4]}, line)
			v, err := strconv.Atoi(cells[3])
			require.NoError(t, err)
			n += v
		}
		return n
	}
	f.eventually(func() bool { return sum() >= 55 }, "the results come although no later row does")
	require.Equal(t, 55, sum())
	require.Zero(t, solo.source("solo/silent").Rows)
}

// TestASilentOutputLeavesNoFile: a live query without results makes no file, over restarts, and makes it with the first
// result.
func TestASilentOutputLeavesNoFile(t *testing.T) {
	f := newFed(t, map[string]string{"solo": soon(tallies)})
	solo := f.nodes["solo"]
	solo.start()
	dir := t.TempDir()
	out := filepath.Join(dir, "copy.csv")
	_, err := solo.node.Deploy(t.Context(), "copy.toml", []byte(copyOf("copy", "solo/tallies", out)), false)
	require.NoError(t, err)
	committed := func() bool {
		for _, q := range solo.node.Backend(nil, func() []string { return nil }).Status().Queries {
			for _, s := range q.Sinks {
				if s.Committed.Boundary > 0 {
					return true
				}
			}
		}
		return false
	}
	for range 2 {
		f.eventually(committed, "the sink has committed that there is nothing")
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		require.NoError(t, err)
		require.Empty(t, files)
		solo.stop()
		solo.start()
	}
	solo.pushTallies("solo/tallies", "a", 1, 2)
	f.eventually(func() bool { return len(lines(out)) >= 3 }, "the first rows make the file")
	require.Equal(t, []string{"kind,n", "a,1", "a,2"}, lines(out))
}
