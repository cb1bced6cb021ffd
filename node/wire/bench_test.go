package wire_test

import (
	"bytes"
	"io"
	"testing"

	"fednode/node/wire"
	"fednode/node/wire/wirebench"
	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"

	"github.com/stretchr/testify/require"
)

const rowsPerBatch = 4096

func frames(n int) []*tuple.Frame {
	var out []*tuple.Frame
	id := uint64(1)
	for _, b := range wirebench.Connections(n, rowsPerBatch) {
		out = append(out, &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id + rowsPerBatch - 1, Batch: b})
		id += rowsPerBatch
	}
	return out
}

func BenchmarkEncode(b *testing.B) {
	for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			fs := frames(16)
			w, err := wire.NewWriter(io.Discard, fs[0].Batch.Schema, wire.WriterOptions{Codec: codec})
			require.NoError(b, err)
			for _, f := range fs {
				require.NoError(b, w.WriteFrame(f))
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				require.NoError(b, w.WriteFrame(fs[i%len(fs)]))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rowsPerBatch, "ns/row")
		})
	}
}

// BenchmarkDecode reads a stream of 64 frames again and again.
func BenchmarkDecode(b *testing.B) {
	for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
		b.Run(codec.String(), func(b *testing.B) {
			fs := frames(64)
			var buf bytes.Buffer
			w, err := wire.NewWriter(&buf, fs[0].Batch.Schema, wire.WriterOptions{Codec: codec})
			require.NoError(b, err)
			for _, f := range fs {
				require.NoError(b, w.WriteFrame(f))
			}
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				r, err := wire.NewReader(bytes.NewReader(buf.Bytes()), wire.ReaderOptions{})
				require.NoError(b, err)
				for f, err := r.ReadFrame(); err == nil; f, err = r.ReadFrame() {
					rows += f.Batch.Rows()
				}
			}
			require.Equal(b, b.N*64*rowsPerBatch, rows)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rows), "ns/row")
		})
	}
}

// A batch costs a constant number of allocations on either side, whatever its rows.
func TestAllocationsPerBatch(t *testing.T) {
	fs := frames(2)
	var buf bytes.Buffer
	w, err := wire.NewWriter(&buf, fs[0].Batch.Schema, wire.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, w.WriteFrame(fs[0]))
	require.NoError(t, w.WriteFrame(fs[1]))
	again := *fs[0]
	again.FirstID, again.LastID = w.Stats().Rows+1, w.Stats().Rows+rowsPerBatch
	require.LessOrEqual(t, testing.AllocsPerRun(20, func() { require.NoError(t, w.WriteFrame(&again)) }), 6.0, "encode")

	// Decode: the difference between a stream of many batches and one of few.
	count := func(n int) float64 {
		var buf bytes.Buffer
		w, err := wire.NewWriter(&buf, fs[0].Batch.Schema, wire.WriterOptions{})
		require.NoError(t, err)
		for range n {
			f := *fs[0]
			f.FirstID, f.LastID = w.Stats().Rows+1, w.Stats().Rows+rowsPerBatch
			require.NoError(t, w.WriteFrame(&f))
		}
		return testing.AllocsPerRun(5, func() {
			r, err := wire.NewReader(bytes.NewReader(buf.Bytes()), wire.ReaderOptions{})
			require.NoError(t, err)
			for _, err := r.ReadFrame(); err == nil; _, err = r.ReadFrame() {
			}
		})
	}
	require.LessOrEqual(t, (count(40)-count(8))/32, 16.0, "decode")
}
