package wirebench

import (
	"fmt"
	"math/rand/v2"

	"fednode/query/tuple"
)

// Connections returns batches of connection records (ts, src, dst, dport, bytes): 10,000 sources and 2,000 targets,
// zipf-distributed, strings dictionary-coded. The same arguments give the same records.
func Connections(batches, rowsPerBatch int) []*tuple.Batch {
	b := tuple.NewBatchBuilder(tuple.MustSchema(
		tuple.Field{Name: "ts", Type: tuple.Of(tuple.Timestamp)},
		tuple.Field{Name: "src", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "dst", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "bytes", Type: tuple.Of(tuple.Int64)}))
	r := rand.New(rand.NewPCG(7, 7))
	src, dst := rand.NewZipf(r, 1.1, 4, 9_999), rand.NewZipf(r, 1.2, 4, 1_999)
	at := tuple.Time(1_790_000_000_000_000)
	out := make([]*tuple.Batch, batches)
	for i := range out {
		for range rowsPerBatch {
			at += tuple.Time(r.IntN(100))
			s, d := src.Uint64(), dst.Uint64()
			b.AppendInt(0, int64(at))
			b.AppendBin(1, fmt.Appendf(nil, "10.%d.%d.%d", s%4, s/256, s%256))
			b.AppendBin(2, fmt.Appendf(nil, "192.168.%d.%d", d/256, d%256))
			b.AppendInt(3, int64(r.IntN(65536)))
			b.AppendInt(4, int64(r.ExpFloat64()*2000))
			b.EndRow(at)
		}
		out[i] = b.Take()
	}
	return out
}
