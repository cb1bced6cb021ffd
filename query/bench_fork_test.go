package query_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"fednode/query"
	"fednode/query/tuple"
)

// perSource is an affected aggregate of two kinds of state beside one that no failure touches.
const perSource = benchStream + `
[streams.other]
connector = "file"
time = "ts"
columns = { ts = "timestamp", src = "ip", dport = "int64" }
[operators.per_source]
kind = "aggregate"
input = "conns"
window = { tumbling = "1h" }
group_by = ["src"]
aggregates = { conns = "count()", ports = "count_distinct(dport)" }
[operators.both]
kind = "union"
inputs = ["per_source", "beside"]
[operators.beside]
kind = "aggregate"
input = "other"
window = { tumbling = "1h" }
group_by = ["src"]
aggregates = { conns = "count()", ports = "count_distinct(dport)" }
[outputs.out]
input = "both"
connector = "file"
`

// grouped returns an instance with so many groups on its SUnion of conns, and one batch that touches rows of them all over.
func grouped(b *testing.B, groups int) (*query.Instance, int, *tuple.Batch) {
	f := onlyFragment(b, perSource)
	i := query.NewInstance(f, quiet{})
	union := 0
	for f.Inputs[f.Unions[union].Inputs[0]].Source.Name != "conns" {
		union++
	}
	build := tuple.NewBatchBuilder(f.Unions[union].Schema)
	row := func(n int) {
		var ip [16]byte
		ip[10], ip[11] = 0xff, 0xff
		binary.BigEndian.PutUint32(ip[12:], uint32(n))
		build.AppendInt(0, 1)
		build.AppendBin(1, ip[:])
		build.AppendInt(2, int64(n%50))
		build.EndRow(1)
	}
	for n := range groups {
		row(n)
		if n%4096 == 4095 || n == groups-1 {
			if err := i.Process(union, build.Take()); err != nil {
				b.Fatal(err)
			}
		}
	}
	h := uint64(1)
	for range 4096 {
		h = tuple.Mix64(h + 0x9e3779b97f4a7c15)
		row(int(h % uint64(groups)))
	}
	return i, union, build.Take()
}

// BenchmarkForkAffected: making a fork and dropping it, by the number of groups of the affected operator.
func BenchmarkForkAffected(b *testing.B) {
	for _, groups := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			i, union, _ := grouped(b, groups)
			affected := make([]bool, len(i.Plan().Unions))
			affected[union] = true
			b.ReportAllocs()
			for b.Loop() {
				i.ForkAffected(affected, quiet{}).Drop()
			}
		})
	}
}

// BenchmarkFirstWrites: a batch of 4,096 rows all over the groups, through an instance alone, and as the first and the
// hundredth after a fork, through the instance and through the fork.
func BenchmarkFirstWrites(b *testing.B) {
	for _, groups := range []int{10_000, 1_000_000} {
		i, union, batch := grouped(b, groups)
		affected := make([]bool, len(i.Plan().Unions))
		affected[union] = true
		process := func(b *testing.B, to interface {
			Process(int, *tuple.Batch) error
		}) {
			if err := to.Process(union, batch); err != nil {
				b.Fatal(err)
			}
		}
		report := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
		}
		b.Run(fmt.Sprintf("groups=%d/alone", groups), func(b *testing.B) {
			process(b, i)
			for b.Loop() {
				process(b, i)
			}
			report(b)
		})
		for _, side := range []string{"instance", "fork"} {
			for _, before := range []int{0, 99} {
				b.Run(fmt.Sprintf("groups=%d/%s-after-%d", groups, side, before), func(b *testing.B) {
					for range b.N {
						b.StopTimer()
						f := i.ForkAffected(affected, quiet{})
						var to interface {
							Process(int, *tuple.Batch) error
						} = i
						if side == "fork" {
							to = f
						}
						for range before {
							process(b, to)
						}
						b.StartTimer()
						process(b, to)
						b.StopTimer()
						f.Drop()
						b.StartTimer()
					}
					report(b)
				})
			}
		}
	}
}
