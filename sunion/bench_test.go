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

// Of the load: four in-order inputs whose rows alternate, a row every 200 µs on each.
const (
	benchInputs = 4
	benchRows   = 4096 // of a frame
	benchRounds = 32   // frames of each input
)

// benchFrames returns the frames of every input, round by round. They are made beforehand, for an SUnion keeps frames
// but changes none.
func benchFrames() [][benchInputs]*tuple.Frame {
	rounds := make([][benchInputs]*tuple.Frame, benchRounds)
	for in := range benchInputs {
		b := tuple.NewBatchBuilder(benchSchema)
		for r := range rounds {
			for i := range benchRows {
				b.AppendBin(0, fmt.Appendf(nil, "10.0.%d.%d", i%40, i%251))
				b.AppendInt(1, int64(i%1024))
				b.AppendInt(2, int64(i))
				b.EndRow(tuple.Time((r*benchRows+i)*200 + in*37))
			}
			first := uint64(r*benchRows) + 1
			rounds[r][in] = &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + benchRows - 1, Batch: b.Take()}
		}
	}
	return rounds
}

// BenchmarkRelease is the cost of a row of four in-order inputs of three columns in 100 ms buckets.
func BenchmarkRelease(b *testing.B) {
	rounds := benchFrames()
	for _, unordered := range []bool{false, true} {
		b.Run(fmt.Sprintf("unordered=%v", unordered), func(b *testing.B) {
			b.ReportAllocs()
			got := 0
			for range b.N {
				u, err := New(Config{Schema: benchSchema, Inputs: benchInputs, Bucket: 100 * tuple.Millisecond, Unordered: unordered})
				if err != nil {
					b.Fatal(err)
				}
				for _, frames := range rounds {
					for in, f := range frames {
						if err := u.Insert(in, f); err != nil {
							b.Fatal(err)
						}
						u.Boundary(in, f.Batch.Time[benchRows-1])
					}
					if err := u.Release(u.Stable(), func(b *tuple.Batch) error { got += b.Rows(); return nil }); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(benchInputs*benchRounds*benchRows), "ns/row")
			if got == 0 {
				b.Fatal("nothing released")
			}
		})
	}
}

// BenchmarkReleaseTentative is what a row of a suffix costs that goes to the fork bucket by bucket, in small frames, where a part
// of what has gone is kept for another fork and where none is.
func BenchmarkReleaseTentative(b *testing.B) {
	const bucket, each, frames = 100 * tuple.Millisecond, 50, 2000
	list := make([]*tuple.Frame, frames)
	builder := tuple.NewBatchBuilder(benchSchema)
	for n := range list {
		for i := range each {
			builder.AppendBin(0, fmt.Appendf(nil, "10.0.%d.%d", i%40, i%251))
			builder.AppendInt(1, int64(i%1024))
			builder.AppendInt(2, int64(i))
			builder.EndRow(tuple.Time((n*each + i) * 1000))
		}
		first := uint64(n*each) + 1
		list[n] = &tuple.Frame{Kind: tuple.Tentative, FirstID: first, LastID: first + each - 1, Batch: builder.Take()}
	}
	for _, kept := range []int{0, 1 << 12, 1 << 16} {
		b.Run(fmt.Sprintf("kept=%d", kept), func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				u, err := New(Config{Schema: benchSchema, Inputs: 1, Bucket: bucket, ReplayRows: kept})
				if err != nil {
					b.Fatal(err)
				}
				u.Boundary(0, 0)
				u.Fork()
				got := 0
				for _, f := range list {
					u.InsertTentative(0, f)
					at := f.Batch.Time[each-1]
					u.TentativeBoundary(0, at)
					if err := u.ReleaseTentative(at.FloorTo(bucket, 0), func(b *tuple.Batch) error { got += b.Rows(); return nil }); err != nil {
						b.Fatal(err)
					}
				}
				if got < (frames-2)*each {
					b.Fatalf("%d rows", got)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(frames*each), "ns/row")
		})
	}
}
