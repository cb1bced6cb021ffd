package query_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"fednode/query"
	"fednode/query/tuple"
)

// onlyFragment parses a query and returns the one fragment that it makes.
func onlyFragment(b *testing.B, src string) *query.FragmentPlan {
	d, p := query.Parse("q.toml", []byte(src), query.Options{})
	if d == nil {
		b.Fatal(p.Err())
	}
	plan := query.NewPlan(d, query.Placement{}, p)
	if len(plan.Fragments) != 1 {
		b.Fatalf("%d fragments", len(plan.Fragments))
	}
	return plan.Fragments[0]
}

const benchStream = "[query]\nname = \"q\"\n[streams.conns]\nconnector = \"file\"\ntime = \"ts\"\n" +
	"columns = { ts = \"timestamp\", src = \"ip\", dport = \"int64\" }\n"

// BenchmarkIdleAggregates: a boundary through 250 aggregates with open windows and a filter behind each. At one every
// 100 ms the whole must cost less than 5 % of a core.
func BenchmarkIdleAggregates(b *testing.B) {
	var src strings.Builder
	src.WriteString(benchStream)
	for i := range 250 {
		fmt.Fprintf(&src, "[operators.a%d]\nkind = \"aggregate\"\ninput = \"conns\"\nwindow = { tumbling = \"60s\" }\ngroup_by = [\"src\"]\n"+
			"aggregates = { n = \"count()\" }\n[operators.f%d]\nkind = \"filter\"\ninput = \"a%d\"\nwhere = \"n > 100\"\n"+
			"[outputs.o%d]\nconnector = \"file\"\ninput = \"f%d\"\n", i, i, i, i, i)
	}
	i := query.NewInstance(onlyFragment(b, src.String()), quiet{})
	t := tuple.Time(0)
	b.ReportAllocs()
	for b.Loop() {
		t += tuple.Time(100 * tuple.Millisecond)
		if err := i.Boundary(0, t); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1e8*100, "%core")
}

// BenchmarkNetmon: the network-monitoring query, batch by batch, a boundary every 100 ms.
func BenchmarkNetmon(b *testing.B) {
	src := benchStream + `
[operators.per_source]
kind = "aggregate"
input = "conns"
window = { tumbling = "60s" }
group_by = ["src"]
aggregates = { conns = "count()", ports = "count_distinct(dport)" }
[operators.active]
kind = "filter"
input = "per_source"
where = "conns > 100"
[operators.scanning]
kind = "filter"
input = "per_source"
where = "ports > 10"
[operators.suspects]
kind = "join"
left = "active"
right = "scanning"
on = ["src"]
window = "same"
columns = { conns = "left.conns", ports = "right.ports" }
[outputs.suspects]
input = "suspects"
connector = "file"
`
	const rows = 4096
	f := onlyFragment(b, src)
	batches := connections(f.Inputs[0].Schema, 64, rows)
	step := tuple.Time(64 * 100 * tuple.Millisecond)
	i := query.NewInstance(f, quiet{})
	base := tuple.Time(0)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		batch := batches[n%len(batches)]
		if err := i.Process(0, shifted(batch, base)); err != nil {
			b.Fatal(err)
		}
		if n++; n%len(batches) == 0 {
			base += step
		}
		if err := i.Boundary(0, base+tuple.Time(n%len(batches))*tuple.Time(100*tuple.Millisecond)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
}

// shifted returns a batch with every stime later by d.
func shifted(b *tuple.Batch, d tuple.Time) *tuple.Batch {
	times := make([]tuple.Time, len(b.Time))
	for i, t := range b.Time {
		times[i] = t + d
	}
	return &tuple.Batch{Schema: b.Schema, Time: times, Cols: b.Cols}
}

// connections returns batches of 100 ms each, of 10,000 sources of which few are busy.
func connections(s *tuple.Schema, batches, rows int) []*tuple.Batch {
	b := tuple.NewBatchBuilder(s)
	var out []*tuple.Batch
	h := uint64(1)
	for k := range batches {
		for i := range rows {
			h = tuple.Mix64(h + 0x9e3779b97f4a7c15)
			at := int64(k)*100_000 + int64(i)*100_000/int64(rows)
			var ip [16]byte
			ip[10], ip[11] = 0xff, 0xff
			binary.BigEndian.PutUint32(ip[12:], uint32(h%10_000)*uint32(h>>32%97)/97)
			b.AppendInt(0, at)
			b.AppendBin(1, ip[:])
			b.AppendInt(2, int64(h>>40%1024))
			b.EndRow(tuple.Time(at))
		}
		out = append(out, b.Take())
	}
	return out
}
