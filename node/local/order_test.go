package local

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/query/tuple"
)

func sorterSchema() *tuple.Schema {
	return tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
}

// sorted runs rows of these times through a sorter and prints them; the number of a row is its arrival.
func sorted(t require.TestingT, times []tuple.Time, cuts []int, s *sorter) (out []string, spilled bool) {
	b := tuple.NewBatchBuilder(sorterSchema())
	for i, at := range times {
		if i%3 == 0 {
			b.AppendNull(0)
		} else {
			b.AppendBin(0, fmt.Appendf(nil, "k%d", i%5))
		}
		b.AppendInt(1, int64(i))
		b.EndRow(at)
		if i+1 == len(times) || slices.Contains(cuts, i) {
			require.NoError(t, s.add(b.Take()))
		}
	}
	last := tuple.MinTime
	for rows, err := range s.all() {
		require.NoError(t, err)
		for i := range rows.Rows() {
			row := rows.Row(i)
			require.GreaterOrEqual(t, rows.Time[row], last)
			last = rows.Time[row]
			out = append(out, fmt.Sprintf("%d %s %s", last, rows.Cols[0].AppendText(nil, row), rows.Cols[1].AppendText(nil, row)))
		}
	}
	spilled = s.runs != nil
	require.NoError(t, s.close())
	return out, spilled
}

// TestSorter: rows come out by time, and by arrival where times are equal, from memory and from disk alike.
func TestSorter(t *testing.T) {
	dir, both := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Map(rapid.Int64Range(0, 40), func(v int64) tuple.Time { return tuple.Time(v) }), 1, 60).Draw(t, "times")
		cuts := rapid.SliceOf(rapid.IntRange(0, len(times)-1)).Draw(t, "cuts")
		inMemory, onDisk := sorted(t, times, cuts, newSorter(sorterSchema(), 1<<30, dir))
		require.False(t, onDisk)
		s := newSorter(sorterSchema(), rapid.Int64Range(1, 4000).Draw(t, "limit"), dir)
		s.fanIn = rapid.SampledFrom([]int{2, 3, mergeRuns}).Draw(t, "runs at once")
		spilled, onDisk := sorted(t, times, cuts, s)
		if onDisk {
			both++
		}
		require.Equal(t, inMemory, spilled)
		order := make([]int, len(times))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return int(times[a] - times[b]) })
		require.Len(t, inMemory, len(order))
		for i, n := range order {
			require.True(t, strings.HasPrefix(inMemory[i], fmt.Sprintf("%d ", times[n])) && strings.HasSuffix(inMemory[i], fmt.Sprintf(" %d", n)), inMemory[i])
		}
	})
	require.NotZero(t, both, "no case went to disk")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, left, "temporary files stay behind")
}

// TestSorterWithoutRoom: a directory that cannot be written to is an error that names the remedy.
func TestSorterWithoutRoom(t *testing.T) {
	s := newSorter(sorterSchema(), 1, "/dev/null")
	b := tuple.NewBatchBuilder(sorterSchema())
	b.AppendNull(0)
	b.AppendInt(1, 1)
	b.EndRow(1)
	require.ErrorContains(t, s.add(b.Take()), "TMPDIR")
	require.NoError(t, s.close())
}

// shuffled is n rows of some keys over many windows, in no order.
func shuffled(n int) string {
	return rows(n, func(i int) (int, string, int) { return start + i*7919%n, fmt.Sprintf("k%d", i*31%50), i })
}

// counting returns counts with another aggregate of v, under other names.
func counting(sum string) string {
	return strings.NewReplacer("sum(v)", sum, "counts", "others", "short", "brief", "outputs.out", "outputs.other", "out.csv", "other.csv").
		Replace(strings.TrimPrefix(counts, readings))
}

// TestSmallMemory: results do not depend on how much memory there is, whether operators need order or not. Too little of
// it lets rows be sorted on disk, from the beginning or once the state has grown.
func TestSmallMemory(t *testing.T) {
	for name, text := range map[string]string{
		"any order":     counts,
		"needs order":   strings.Replace(counts, "sum(v)", "first(v)", 1),
		"order and not": counts + counting("last(v)"),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorkplace(t, text)
			w.put(t, "in.csv", shuffled(20_000))
			report, err := w.run(t)
			require.NoError(t, err)
			require.Equal(t, uint64(20_000), report.Streams[0].Rows)
			want := w.get(t, "out.csv")
			require.Greater(t, strings.Count(want, "\n"), 10_000)
			for _, memory := range []int64{1, 1 << 20} {
				for _, blockRows := range []int{100, 0} {
					w.opt.MemoryBytes, w.opt.Env.BlockRows = memory, blockRows
					_, err := w.run(t)
					require.NoError(t, err)
					require.Equal(t, want, w.get(t, "out.csv"), "%d bytes, blocks of %d", memory, blockRows)
				}
			}
			left, err := os.ReadDir(w.opt.TempDir)
			require.NoError(t, err)
			require.Empty(t, left)
		})
	}
}

// TestTwoStreamsInAnyOrder: sorted streams are taken side by side, and a join sees both in order.
func TestTwoStreamsInAnyOrder(t *testing.T) {
	w := newWorkplace(t, readings+`
[streams.other]
connector = "file"
path = "other.csv"
time = "s"
[streams.other.columns]
s = { type = "timestamp", unit = "s" }
k = "string"
v = "int64"
[operators.pairs]
kind = "join"
left = "in"
right = "other"
on = ["k"]
within = "0s"
columns = { lv = "left.v", rv = "right.v" }
[outputs.out]
input = "pairs"
connector = "file"
path = "out.csv"
`)
	w.put(t, "in.csv", shuffled(5000))
	w.put(t, "other.csv", shuffled(5000))
	_, err := w.run(t)
	require.NoError(t, err)
	want := w.get(t, "out.csv")
	require.Equal(t, 5001, strings.Count(want, "\n"))
	w.opt.MemoryBytes = 1000
	_, err = w.run(t)
	require.NoError(t, err)
	require.Equal(t, want, w.get(t, "out.csv"))
}
