package stream_test

import (
	"bytes"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
	"fednode/query/tuple/arrowio/stream"
	"fednode/query/tuple/tupletest"

	"github.com/stretchr/testify/require"
)

// encode sends batches in chunks of about limit bytes and returns the chunks and their rows.
func encode(t *testing.T, s *tuple.Schema, codec stream.Codec, limit int, batches ...*tuple.Batch) (chunks [][]byte, rows []int) {
	t.Helper()
	enc, err := stream.NewEncoder(s, codec)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, enc.Load(b))
		for first := true; first || enc.Pending() > 0; first = false {
			n := enc.Fit(limit)
			chunk, err := enc.Append(nil, n)
			require.NoError(t, err)
			chunks, rows = append(chunks, chunk), append(rows, n)
		}
	}
	return chunks, rows
}

func decode(t *testing.T, want *tuple.Schema, chunks [][]byte, rows []int) []*tuple.Batch {
	t.Helper()
	dec, err := stream.NewDecoder(want)
	require.NoError(t, err)
	var out []*tuple.Batch
	for i, chunk := range chunks {
		b, err := dec.Decode(chunk, rows[i])
		require.NoError(t, err)
		require.NoError(t, b.Check())
		out = append(out, b)
	}
	return out
}

// Whatever the cuts, the codec and the encoding of the rows at the sender, the receiver has the same rows.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(150) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		batches := append(tupletest.Batches(r, s, 3, 40, 1000), tupletest.Batches(r, s, 2, 40, 2000)...)
		for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
			for _, limit := range []int{1, 500, 1 << 20} {
				chunks, rows := encode(t, s, codec, limit, batches...)
				got := decode(t, nil, chunks, rows)
				require.Equal(t, tupletest.Lines(batches...), tupletest.Lines(got...), "seed %d codec %v limit %d", seed, codec, limit)
				require.Equal(t, tupletest.Hash(batches...), tupletest.Hash(got...))
				require.True(t, got[0].Schema.Equal(s))
			}
		}
	}
}

// The chunks laid end to end are a stream that the general Arrow reader understands.
func TestGeneralReaderUnderstands(t *testing.T) {
	for seed := range uint64(60) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		batches := tupletest.Batches(r, s, 4, 30, 1000)
		for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
			chunks, _ := encode(t, s, codec, 400, batches...)
			rd, err := arrowio.Open(bytes.NewBuffer(bytes.Join(chunks, nil)), arrowio.Options{})
			require.NoError(t, err)
			own, stime, err := arrowio.TupleSchema(rd.Schema())
			require.NoError(t, err)
			require.True(t, stime)
			require.True(t, own.Equal(s), "%v", own)
			im, err := arrowio.NewImporter(rd.Schema(), s)
			require.NoError(t, err)
			var got []*tuple.Batch
			for rec, err := rd.Next(); rec != nil; rec, err = rd.Next() {
				require.NoError(t, err)
				b, bad, err := im.Batch(rec)
				require.NoError(t, err)
				require.Empty(t, bad)
				got = append(got, b)
			}
			require.Equal(t, tupletest.Lines(batches...), tupletest.Lines(got...), "seed %d", seed)
		}
	}
}

func texts(n int, text func(i int) string) *tuple.Batch {
	b := tuple.NewBatchBuilder(tuple.MustSchema(
		tuple.Field{Name: "a", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "b", Type: tuple.Of(tuple.String)}))
	for i := range n {
		b.AppendBin(0, []byte(text(i)))
		b.AppendBin(1, []byte("same"))
		b.EndRow(tuple.Time(i))
	}
	return b.Take()
}
