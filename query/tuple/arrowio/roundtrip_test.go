package arrowio

import (
	"bytes"
	"io"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// write returns batches in an Arrow container.
func write(t testing.TB, s *tuple.Schema, format Format, batches ...*tuple.Batch) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, s, format, true)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// read returns all batches of a container, as the schema or as their own if that is nil.
func read(t testing.TB, r io.Reader, s *tuple.Schema) []*tuple.Batch {
	t.Helper()
	rd, err := Open(r, Options{})
	require.NoError(t, err)
	if s == nil {
		s, _, err = TupleSchema(rd.Schema())
		require.NoError(t, err)
	}
	im, err := NewImporter(rd.Schema(), s)
	require.NoError(t, err)
	var out []*tuple.Batch
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		b, bad, err := im.Batch(rec)
		require.NoError(t, err)
		require.Empty(t, bad)
		require.NoError(t, b.Check())
		out = append(out, b)
	}
}

// Writing and reading gives the same schema, forms and keys included, and the same rows, in both containers.
func TestRoundTrip(t *testing.T) {
	for seed := range uint64(100) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		batches := tupletest.Batches(r, s, 4, 40, 1000)
		for _, format := range []Format{StreamFormat, FileFormat} {
			got := read(t, bytes.NewReader(write(t, s, format, batches...)), nil)
			require.Equal(t, tupletest.Lines(batches...), tupletest.Lines(got...), "seed %d format %d", seed, format)
			for _, b := range got {
				require.True(t, b.Schema.Equal(s), "%v, want %v", b.Schema, s)
			}
		}
	}
}

func TestSchemaRoundTrip(t *testing.T) {
	var fields []tuple.Field
	for i, typ := range tupletest.Types() {
		fields = append(fields, tuple.Field{Name: string(rune('a'+i%26)) + string(rune('a'+i/26)), Type: typ})
	}
	fields[3].Form, fields[3].Key = tuple.Pseudonym, "2026-11"
	fields[4].Form = tuple.Hashed
	s := tuple.MustSchema(fields...)
	for _, l := range []Layout{{}, {Stime: true}, {Index: arrow.PrimitiveTypes.Int32, Stime: true}, {Index: arrow.PrimitiveTypes.Uint16, Plain: make([]bool, 6)}} {
		got, stime, err := TupleSchema(ArrowSchema(s, l))
		require.NoError(t, err)
		require.Equal(t, l.Stime, stime)
		require.True(t, got.Equal(s), "%v", got)
	}
}

// Dictionary codes keep their meaning across records, also when the dictionary grows or is replaced.
func TestLineageIsKept(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "a", Type: tuple.Of(tuple.String)})
	batch := func(values ...string) *tuple.Batch {
		b := tuple.NewBatchBuilder(s)
		for _, v := range values {
			b.AppendBin(0, []byte(v))
			b.EndRow(0)
		}
		return b.Take()
	}
	b := tuple.NewBatchBuilder(s)
	b.AppendBin(0, []byte("x"))
	b.EndRow(0)
	first := b.Take()
	b.AppendBin(0, []byte("y"))
	b.EndRow(0)
	grown := b.Take()
	got := read(t, bytes.NewReader(write(t, s, StreamFormat, first, grown, batch("z", "x"))), nil)
	require.Len(t, got, 3)
	for _, g := range got {
		require.Same(t, got[0].Cols[0].Dict.Lineage(), g.Cols[0].Dict.Lineage())
		require.True(t, g.Cols[0].Dict.Distinct())
	}
	require.Equal(t, got[0].Cols[0].Code[0], got[2].Cols[0].Code[1], "x has one code")
}

// Columns of the same layout are not copied.
func TestImportSharesMemory(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}, tuple.Field{Name: "f", Type: tuple.Of(tuple.Float64)},
		tuple.Field{Name: "t", Type: tuple.Of(tuple.Timestamp)}, tuple.Field{Name: "s", Type: tuple.Of(tuple.String)})
	b := tuple.NewBatchBuilder(s)
	for i := range 1000 {
		b.AppendInt(0, int64(i))
		b.AppendFloat(1, float64(i))
		b.AppendInt(2, int64(i))
		b.AppendBin(3, []byte{byte('a' + i%7)})
		b.EndRow(tuple.Time(i))
	}
	ex := NewExporter(s, Layout{Stime: true, Index: arrow.PrimitiveTypes.Int32})
	batch := b.Take()
	im, err := NewImporter(ex.Schema(), s)
	require.NoError(t, err)
	got, _, err := im.Batch(ex.Record(batch))
	require.NoError(t, err)
	require.Same(t, &batch.Time[0], &got.Time[0])
	require.Same(t, &batch.Cols[0].Int[0], &got.Cols[0].Int[0])
	require.Same(t, &batch.Cols[1].Float[0], &got.Cols[1].Float[0])
	require.Same(t, &batch.Cols[2].Int[0], &got.Cols[2].Int[0])
	require.Same(t, &batch.Cols[3].Code[0], &got.Cols[3].Code[0])
}
