package arrowio

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"fednode/query/tuple"

	"github.com/stretchr/testify/require"
)

// BenchmarkRead is an Arrow container in memory to batches: dictionaries (stream) and plain strings (file).
func BenchmarkRead(b *testing.B) {
	s := tuple.MustSchema(tuple.Field{Name: "src", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "bytes", Type: tuple.Of(tuple.Int64)})
	bb := tuple.NewBatchBuilder(s)
	var batches []*tuple.Batch
	for i := range 64 {
		for j := range 4096 {
			bb.AppendBin(0, fmt.Appendf(nil, "10.0.%d.%d", (i+j*7)%40, j%250))
			bb.AppendInt(1, int64(j))
			bb.AppendInt(2, int64(i))
			bb.EndRow(tuple.Time(i*4096 + j))
		}
		batches = append(batches, bb.Take())
	}
	for name, format := range map[string]Format{"dictionaries": StreamFormat, "plain": FileFormat} {
		b.Run(name, func(b *testing.B) {
			data := write(b, s, format, batches...)
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				rd, err := Open(bytes.NewReader(data), Options{})
				require.NoError(b, err)
				im, err := NewImporter(rd.Schema(), s)
				require.NoError(b, err)
				for {
					rec, err := rd.Next()
					if err == io.EOF {
						break
					}
					require.NoError(b, err)
					batch, _, err := im.Batch(rec)
					require.NoError(b, err)
					rows += batch.Rows()
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}
