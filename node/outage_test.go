package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/fragment"
)

// bothSources merges the streams of two organisations, and does without one of them after a while.
const bothSources = `
[query]
name = "both"
max_delay = "1500ms"
[streams.ours]
connector = "node"
stream = "north/tallies"
time = "arrival"
columns = { kind = "string", n = "int64" }
[streams.theirs]
connector = "node"
stream = "south/tallies"
time = "arrival"
columns = { kind = "string", n = "int64" }
[operators.all]
kind = "union"
inputs = ["ours", "theirs"]
[operators.some]
kind = "filter"
input = "all"
where = "n > 0"
[outputs.out]
input = "some"
connector = "node"
[fragments.main]
operators = ["all", "some"]
place = { node = "north-1" }
`

// TestOutage shows that results go on without a source that is away for longer than the availability bound, marked as
// tentative and with the name of what is missing, and that they are corrected when it is back.
func TestOutage(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies, "south": tallies + talliesExport})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	f.connect()
	_, err := north.node.Deploy(t.Context(), "both.toml", []byte(bothSources), false)
	require.NoError(t, err)
	const first = 1_000_000 // numbers of south
	south.pushTallies("south/tallies", "b", first+1, first+10)
	stop := north.trickle("north/tallies")
	f.eventually(func() bool { return north.node.streams.Find("north/both/out") != nil }, "the query runs")
	out := north.follow("north/both/out")
	f.eventually(func() bool { n, _ := out.count(); return n > 50 }, "results come")
	_, tentative := out.count()
	require.Zero(t, tentative, "nothing is missing")
	status := func() fragment.OutputStatus {
		s := north.fragmentStatus("north/both", "main")
		require.Len(t, s.Outputs, 1)
		return s.Outputs[0]
	}
	require.Equal(t, dcaa.Stable, status().State)

	began := time.Now()
	south.stop()
	f.eventually(func() bool { _, n := out.count(); return n > 0 }, "tentative results come")
	t.Logf("the first tentative results came %v after the stop began", time.Since(began))
	s := status()
	require.Equal(t, dcaa.UpstreamFailure, s.State)
	require.Len(t, s.Missing, 1)
	require.Equal(t, "south/tallies", s.Missing[0].Stream)
	f.eventually(func() bool { _, n := out.count(); return n > 100 }, "they go on")

	south.start()
	f.connect()
	south.pushTallies("south/tallies", "b", first+11, first+20)
	f.eventually(func() bool { return status().State == dcaa.Stable }, "it is stable again")
	ours := stop()
	f.eventually(func() bool { n, _ := out.count(); return n == ours+20 }, "all rows are stable")
	var of [2][]string
	for _, row := range out.rows(t) {
		_, n, _ := strings.Cut(row, " ")
		at := 0
		if len(n) > 6 {
			at = 1
		}
		of[at] = append(of[at], n)
	}
	require.Equal(t, count(1, ours), of[0])
	require.Equal(t, count(first+1, first+20), of[1])
	require.True(t, out.corrected(), "whoever took tentative rows is told that they are corrected")
	require.NotZero(t, status().Redo)
}

// count are the numbers from first to last.
func count(first, last int) (out []string) {
	for n := first; n <= last; n++ {
		out = append(out, fmt.Sprint(n))
	}
	return out
}

func (w *follower) corrected() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.undone
}
