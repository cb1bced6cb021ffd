package sunion

import (
	"fmt"
	"testing"

	"fednode/query/tuple"
)

var benchSchema = tuple.MustSchema(
	tuple.Field{Name: "src", Type: tuple.Of(tuple.String)},
	tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
	tuple.Field{Name: "bytes", Type: tuple.Of(tuple.Int64)},
)

// BenchmarkRelease is the cost a row of four in-order inputs of three columns in 100 ms buckets at 20,000 rows/s.
func BenchmarkRelease(b *testing.B) {
	for _, unordered := range []bool{false, true} {
		b.Run(fmt.Sprintf("unordered=%v", unordered), func(b *testing.B) {
			const inputs, rows = 4, 4096
			var fs [inputs]*tuple.Frame
			for n := range inputs {
				bb := tuple.NewBatchBuilder(benchSchema)
				for i := range rows {
					bb.AppendBin(0, fmt.Appendf(nil, "10.0.%d.%d", i%40, i%251))
					bb.AppendInt(1, int64(i%1024))
					bb.AppendInt(2, int64(i))
					bb.EndRow(tuple.Time(i*200 + n*37))
				}
				fs[n] = &tuple.Frame{Kind: tuple.Insertion, Generation: 1, Batch: bb.Take()}
			}
			u, err := New(Config{Schema: benchSchema, Inputs: inputs, Bucket: 100 * tuple.Millisecond, Unordered: unordered})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			n, got := 0, 0
			for round := tuple.Time(0); n < b.N; round++ {
				for in := range fs {
					f := *fs[in]
					batch := *f.Batch
					batch.Time = make([]tuple.Time, rows)
					for i, at := range f.Batch.Time {
						batch.Time[i] = at + round*rows*200
					}
					f.Batch, f.FirstID, f.LastID = &batch, uint64(round)*rows+1, uint64(round+1)*rows
					if err := u.Insert(in, &f); err != nil {
						b.Fatal(err)
					}
					u.Boundary(in, batch.Time[rows-1])
				}
				if err := u.Release(u.Stable(), func(b *tuple.Batch) error { got += b.Rows(); return nil }); err != nil {
					b.Fatal(err)
				}
				n += inputs * rows
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/row")
			if got == 0 {
				b.Fatal("nothing released")
			}
		})
	}
}
