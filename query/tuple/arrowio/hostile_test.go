package arrowio

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/stretchr/testify/require"
)

// consume reads all there is and looks at every value; errors are fine, panics and wild memory are not.
func consume(r io.Reader, opt Options) error {
	rd, err := Open(r, opt)
	if err != nil {
		return err
	}
	s, _, err := TupleSchema(rd.Schema())
	if err != nil {
		return err
	}
	im, err := NewImporter(rd.Schema(), s)
	if err != nil {
		return err
	}
	for {
		rec, err := rd.Next()
		if err != nil {
			return err
		}
		b, _, err := im.Batch(rec)
		if err != nil {
			return err
		}
		if err := b.Check(); err != nil {
			panic(err)
		}
		tupletest.Hash(b)
	}
}

func samples(t testing.TB) map[string][]byte {
	r := tupletest.Source(11)
	s := tuple.MustSchema(tuple.Field{Name: "a", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "b", Type: tuple.ListOf(tuple.Of(tuple.Int64))},
		tuple.Field{Name: "c", Type: tuple.Of(tuple.Bool)}, tuple.Field{Name: "d", Type: tuple.DecimalType(2)})
	batches := tupletest.Batches(r, s, 2, 8, 0)
	return map[string][]byte{"stream": write(t, s, StreamFormat, batches...), "file": write(t, s, FileFormat, batches...)}
}

func TestCutOff(t *testing.T) {
	for name, data := range samples(t) {
		for n := range data {
			err := consume(bytes.NewReader(data[:n]), Options{})
			require.Error(t, err, "%s cut at %d", name, n)
		}
	}
}

func TestFlippedBytes(t *testing.T) {
	var before, after runtime.MemStats
	for name, data := range samples(t) {
		for i := range data {
			for _, x := range []byte{0x01, 0x80, 0xFF} {
				bad := bytes.Clone(data)
				bad[i] ^= x
				runtime.ReadMemStats(&before)
				err := consume(bytes.NewReader(bad), Options{MemoryBytes: 1 << 20})
				runtime.ReadMemStats(&after)
				require.Error(t, err) // io.EOF at best
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(64<<20), "%s byte %d", name, i)
			}
		}
	}
}

func TestNotArrow(t *testing.T) {
	for _, text := range []string{"", "x", "a,b\n1,2\n", "ARROW1", "ARROW1\x00\x00ARROW1", strings.Repeat("\xff", 100), "\xff\xff\xff\xff\xff\xff\xff\x7f"} {
		_, err := Open(strings.NewReader(text), Options{})
		require.Error(t, err, "%q", text)
	}
}

// A compressed record that wants more memory than granted is an error that says so.
func TestMemoryLimit(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	b := tuple.NewBatchBuilder(s)
	for i := range 500_000 {
		b.AppendInt(0, 7)
		b.EndRow(tuple.Time(i))
	}
	ex := NewExporter(s, Layout{})
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(ex.Schema()), ipc.WithZstd())
	require.NoError(t, w.Write(ex.Record(b.Take())))
	require.NoError(t, w.Close())
	require.Less(t, buf.Len(), 100_000)
	err := consume(bytes.NewReader(buf.Bytes()), Options{MemoryBytes: 1 << 20})
	require.ErrorIs(t, err, ErrLimit)
	err = consume(bytes.NewReader(buf.Bytes()), Options{})
	require.ErrorIs(t, err, io.EOF)
}

// A small buffer whose header asks for half a gigabyte of window is refused before that is allocated.
func TestWindowLimit(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	b := tuple.NewBatchBuilder(s)
	for i := range 400_000 {
		b.AppendInt(0, int64(i*i))
		b.EndRow(tuple.Time(i))
	}
	ex := NewExporter(s, Layout{})
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(ex.Schema()), ipc.WithZstd())
	require.NoError(t, w.Write(ex.Record(b.Take())))
	require.NoError(t, w.Close())
	data := buf.Bytes()
	// The frame's descriptor byte follows its magic; without the single-segment bit a byte with the window comes next.
	at := bytes.Index(data, []byte{0x28, 0xB5, 0x2F, 0xFD})
	require.Positive(t, at)
	require.Zero(t, data[at+4]&0x20, "a frame without window")
	data[at+5] = 19 << 3 // 2^29 bytes
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := consume(bytes.NewReader(data), Options{MemoryBytes: 16 << 20})
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, ErrLimit)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20))
}

// A schema nested without end would overflow the stack of the general decoder; it never gets there.
func TestDeepSchema(t *testing.T) {
	dt := arrow.DataType(arrow.PrimitiveTypes.Int8)
	for range 40 {
		dt = arrow.ListOf(dt)
	}
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(arrow.NewSchema([]arrow.Field{{Name: "deep", Type: dt}}, nil)))
	require.NoError(t, w.Close())
	_, err := Open(&buf, Options{})
	require.ErrorContains(t, err, "nested deeper")
}

func FuzzOpen(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		err := consume(bytes.NewReader(data), Options{MemoryBytes: 4 << 20})
		if err == nil || errors.Is(err, io.ErrNoProgress) {
			t.Fatal(err)
		}
	})
}
