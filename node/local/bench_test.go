package local

import (
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// activeSources is the query of the benchmarks.
const activeSources = `
[query]
name = "q2"
[streams.conns]
connector = "file"
path = "conns.csv"
time = "ts"
[streams.conns.columns]
ts = { type = "timestamp", unit = "us" }
src = "string"
bytes = "int64"
[operators.active]
kind = "aggregate"
input = "conns"
window = { tumbling = "60s" }
group_by = ["src"]
aggregates = { n = "count()", bytes = "sum(bytes)" }
having = "n > 100"
[outputs.out]
input = "active"
connector = "file"
path = "ours.csv"
`

// BenchmarkFileToFile counts and sums by source in 60 s windows, from file to file, and beside it two programs written by
// hand for this query alone: one with a parser that takes any file of these columns and checks it, and one that reads by
// position, knows the file, and checks nothing. ratio and unchecked-ratio are their processor time by ours, garbage
// collection included, on one processor, medians of interleaved runs; all write the same file.
func BenchmarkFileToFile(b *testing.B) {
	rs := benchRecords()
	dir := b.TempDir()
	writeCSV(b, dir, rs)
	writeJSON(b, dir, rs)
	writeArrow(b, dir, rs)
	out := filepath.Join(dir, "plain.csv")
	for _, c := range []struct {
		name, file    string
		parsed, plain func(in string)
	}{
		{"csv", "conns.csv", func(in string) { plainLines(b, in, out, true, parsedCSV) }, func(in string) { plainLines(b, in, out, true, plainCSV) }},
		{"jsonl", "conns.jsonl", func(in string) { plainLines(b, in, out, false, parsedJSON) }, func(in string) { plainLines(b, in, out, false, plainJSON) }},
		{"arrow", "conns.arrow", func(in string) { plainArrow(b, in, out) }, nil},
	} {
		for _, slack := range []string{"inf", "1s"} {
			b.Run(c.name+"/slack="+slack, func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				w := &workplace{dir: dir, text: activeSources}
				w.opt.Env.Dir = dir
				set := []string{"streams.conns.path=" + c.file, "streams.conns.max_out_of_order=" + slack}
				if c.file == "conns.arrow" {
					set = append(set, "streams.conns.columns.ts.unit=us")
				}
				in := filepath.Join(dir, c.file)
				var ours, parsed, plain []time.Duration
				for b.Loop() {
					ours = append(ours, cpuTime(b, func() { runOnce(b, w, set) }))
					parsed = append(parsed, cpuTime(b, func() { c.parsed(in) }))
					require.Equal(b, readAll(b, out), readAll(b, filepath.Join(dir, "ours.csv")), "the same results")
					if c.plain != nil {
						plain = append(plain, cpuTime(b, func() { c.plain(in) }))
						require.Equal(b, readAll(b, out), readAll(b, filepath.Join(dir, "ours.csv")), "the same results")
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(median(ours))/benchRows, "cpu-ns/row")
				b.ReportMetric(float64(median(parsed))/benchRows, "parsed-ns/row")
				b.ReportMetric(float64(median(parsed))/float64(median(ours)), "ratio")
				if c.plain != nil {
					b.ReportMetric(float64(median(plain))/float64(median(ours)), "unchecked-ratio")
				}
			})
		}
	}
}

func runOnce(b *testing.B, w *workplace, set []string) {
	report, err := w.run(b, set...)
	if err != nil || report.Streams[0].Rows != benchRows {
		b.Fatal(err, report)
	}
}

// cpuTime returns the processor time that f takes, with the garbage collection that it causes.
func cpuTime(b testing.TB, f func()) time.Duration {
	runtime.GC()
	used := func() time.Duration {
		var u syscall.Rusage
		require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

// BenchmarkAnyOrder reads rows that an operator needs in order, but that may stand in any: from memory, and by way of
// the disk.
func BenchmarkAnyOrder(b *testing.B) {
	rs := benchRecords()
	dir := b.TempDir()
	writeCSV(b, dir, rs)
	for _, c := range []struct {
		name   string
		memory int64
	}{{"memory", 1 << 30}, {"disk", 4 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			w := &workplace{dir: dir, text: activeSources}
			w.opt.Env.Dir, w.opt.MemoryBytes, w.opt.TempDir = dir, c.memory, dir
			var took []time.Duration
			for b.Loop() {
				took = append(took, cpuTime(b, func() { runOnce(b, w, []string{"operators.active.aggregates.first=first(bytes)"}) }))
			}
			b.ReportMetric(float64(median(took))/benchRows, "cpu-ns/row")
		})
	}
}
