package stream_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
	"fednode/query/tuple/arrowio/stream"
	"fednode/query/tuple/tupletest"

	"github.com/apache/arrow-go/v18/arrow/ipc"
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

// A dictionary that would pass a limit sends its column plain, in a stream begun anew; the others start over with it.
func TestRestart(t *testing.T) {
	many := texts(70_000, func(i int) string { return fmt.Sprint(i) })
	long := texts(5, func(i int) string { return strings.Repeat(fmt.Sprint(i), 1<<20) })
	enc, err := stream.NewEncoder(many.Schema, stream.None)
	require.NoError(t, err)
	dec, err := stream.NewDecoder(nil)
	require.NoError(t, err)
	send := func(b *tuple.Batch) (out []*tuple.Batch) {
		require.NoError(t, enc.Load(b))
		for enc.Pending() > 0 {
			n := enc.Fit(1 << 20)
			chunk, err := enc.Append(nil, n)
			require.NoError(t, err)
			got, err := dec.Decode(chunk, n)
			require.NoError(t, err)
			out = append(out, got)
		}
		require.Equal(t, tupletest.Lines(b), tupletest.Lines(out...))
		return out
	}
	before := send(texts(10, func(i int) string { return fmt.Sprint(i) }))
	require.True(t, before[0].Cols[0].Dict.Distinct())
	after := send(many)
	require.Equal(t, 1, enc.Restarts())
	require.False(t, after[0].Cols[0].Dict.Distinct())
	require.True(t, after[0].Cols[1].Dict.Distinct())
	send(long)
	require.Equal(t, 1, enc.Restarts(), "a plain column stays plain")
}

func TestEncoderRefuses(t *testing.T) {
	b := texts(3, func(int) string { return "x" })
	enc, err := stream.NewEncoder(b.Schema, stream.None)
	require.NoError(t, err)
	require.NoError(t, enc.Load(b))
	require.ErrorContains(t, enc.Load(b), "3 rows loaded before are not sent yet")
	other := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "z", Type: tuple.Of(tuple.Bool)})).Take()
	_, err = enc.Append(nil, 3)
	require.NoError(t, err)
	require.ErrorContains(t, enc.Load(other), "a batch of (z bool)")
	wide := make([]tuple.Field, stream.MaxColumns+1)
	for i := range wide {
		wide[i] = tuple.Field{Name: fmt.Sprint(i), Type: tuple.Of(tuple.Bool)}
	}
	_, err = stream.NewEncoder(tuple.MustSchema(wide...), stream.None)
	require.ErrorContains(t, err, "1025 columns")
}

// A schema other than the one asked for is refused before any row is looked at.
func TestWantedSchema(t *testing.T) {
	b := texts(3, func(int) string { return "x" })
	chunks, rows := encode(t, b.Schema, stream.None, 1<<20, b)
	dec, err := stream.NewDecoder(tuple.MustSchema(tuple.Field{Name: "a", Type: tuple.Of(tuple.String)}))
	require.NoError(t, err)
	_, err = dec.Decode(chunks[0], rows[0])
	var e *stream.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, stream.BadSchema, e.Fault)
}

// What the general encoder writes in the same layout is understood, dictionaries replaced or grown by its own rules.
func TestReadsTheGeneralWriter(t *testing.T) {
	for seed := range uint64(40) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		plain := make([]bool, s.Len())
		for i := range plain {
			plain[i] = true
		}
		b := tupletest.Batches(r, s, 1, 30, 1000)[0]
		if b.Rows() == 0 {
			continue
		}
		for _, opt := range [][]ipc.Option{nil, {ipc.WithLZ4()}, {ipc.WithZstd()}} {
			ex := arrowio.NewExporter(s, arrowio.Layout{Stime: true, Plain: plain})
			var buf bytes.Buffer
			w := ipc.NewWriter(&buf, append(opt, ipc.WithSchema(ex.Schema()))...)
			require.NoError(t, w.Write(ex.Record(b)))
			require.NoError(t, w.Close())
			dec, err := stream.NewDecoder(s)
			require.NoError(t, err)
			got, err := dec.Decode(buf.Bytes()[:buf.Len()-8], b.Rows())
			require.NoError(t, err, "seed %d", seed)
			require.NoError(t, got.Check())
			require.Equal(t, tupletest.Lines(b), tupletest.Lines(got), "seed %d", seed)
		}
	}
}

// Chunks at any alignment decode alike: what is not aligned is copied.
func TestUnalignedMemory(t *testing.T) {
	r := tupletest.Source(4)
	s := tupletest.Schema(r)
	b := tupletest.Batches(r, s, 1, 50, 1000)[0]
	chunks, rows := encode(t, s, stream.None, 1<<20, b)
	for shift := range 8 {
		moved := append(make([]byte, shift, shift+len(chunks[0])), chunks[0]...)[shift:]
		got := decode(t, s, [][]byte{moved}, rows)
		require.Equal(t, tupletest.Lines(b), tupletest.Lines(got...))
	}
}

// Any chunk after a good beginning gives a consistent batch or an *Error.
func FuzzDecode(f *testing.F) {
	b := texts(9, func(i int) string { return "xyz"[:i%3] })
	for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
		enc, err := stream.NewEncoder(b.Schema, codec)
		require.NoError(f, err)
		require.NoError(f, enc.Load(b))
		chunk, err := enc.Append(nil, 4)
		require.NoError(f, err)
		f.Add(chunk, 4)
		chunk, err = enc.Append(nil, 5)
		require.NoError(f, err)
		f.Add(chunk, 5)
	}
	f.Fuzz(func(t *testing.T, chunk []byte, rows int) {
		for _, begun := range []bool{false, true} {
			dec, err := stream.NewDecoder(nil)
			if err != nil {
				t.Fatal(err)
			}
			if begun {
				begin(t, dec, b)
			}
			got, err := dec.Decode(bytes.Clone(chunk), rows&0xFFFF)
			var e *stream.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("%T %v", err, err)
			}
			if err == nil {
				if err := got.Check(); err != nil {
					t.Fatal(err)
				}
				tupletest.Hash(got)
			}
		}
	})
}

// begin feeds a decoder the schema and first rows of b.
func begin(t *testing.T, dec *stream.Decoder, b *tuple.Batch) {
	chunks, rows := encode(t, b.Schema, stream.None, 1<<20, b)
	if _, err := dec.Decode(chunks[0], rows[0]); err != nil {
		t.Fatal(err)
	}
}
