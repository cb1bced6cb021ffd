package local

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

const (
	benchRows      = 2_000_000
	benchSources   = 10_000
	benchPerSecond = 20_000
	benchFirst     = 1_700_000_040 // in seconds: the beginning of a minute
)

// benchRecord is a connection: times are in order, few sources are frequent and many rare.
type benchRecord struct {
	micros          int64
	src, dst, dport int
	bytes           int64
}

func benchRecords() []benchRecord {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, benchSources-1)
	out := make([]benchRecord, benchRows)
	for i := range out {
		out[i] = benchRecord{micros: benchFirst*1e6 + int64(i)*1e6/benchPerSecond, src: int(zipf.Uint64()), dst: rng.IntN(500), dport: rng.IntN(2048), bytes: rng.Int64N(100_000)}
	}
	return out
}

func address(n int) string { return fmt.Sprintf("10.%d.%d.%d", n>>16, n>>8&255, n&255) }

func writeCSV(t testing.TB, dir string, rs []benchRecord) {
	var b bytes.Buffer
	b.WriteString("ts,src,dst,dport,bytes\n")
	for _, r := range rs {
		fmt.Fprintf(&b, "%d,%s,%s,%d,%d\n", r.micros, address(r.src), address(1<<16+r.dst), r.dport, r.bytes)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conns.csv"), b.Bytes(), 0o600))
}

func writeJSON(t testing.TB, dir string, rs []benchRecord) {
	var b bytes.Buffer
	for _, r := range rs {
		fmt.Fprintf(&b, `{"ts":%d,"src":"%s","dst":"%s","dport":%d,"bytes":%d}`+"\n", r.micros, address(r.src), address(1<<16+r.dst), r.dport, r.bytes)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "conns.jsonl"), b.Bytes(), 0o600))
}

// writeArrow writes records of 65,536 rows, addresses as codes of one dictionary.
func writeArrow(t testing.TB, dir string, rs []benchRecord) {
	names := array.NewStringBuilder(memory.DefaultAllocator)
	for i := range benchSources {
		names.Append(address(i))
	}
	for i := range 500 {
		names.Append(address(1<<16 + i))
	}
	dict := names.NewArray()
	text := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "src", Type: text}, {Name: "dst", Type: text},
		{Name: "dport", Type: arrow.PrimitiveTypes.Int64}, {Name: "bytes", Type: arrow.PrimitiveTypes.Int64}}, nil)
	f, err := os.Create(filepath.Join(dir, "conns.arrow"))
	require.NoError(t, err)
	w, err := ipc.NewFileWriter(f, ipc.WithSchema(schema))
	require.NoError(t, err)
	for len(rs) > 0 {
		part := rs[:min(len(rs), 1<<16)]
		rs = rs[len(part):]
		ts, src, dst := array.NewTimestampBuilder(memory.DefaultAllocator, arrow.FixedWidthTypes.Timestamp_us.(*arrow.TimestampType)), array.NewInt32Builder(memory.DefaultAllocator), array.NewInt32Builder(memory.DefaultAllocator)
		port, size := array.NewInt64Builder(memory.DefaultAllocator), array.NewInt64Builder(memory.DefaultAllocator)
		for _, r := range part {
			ts.Append(arrow.Timestamp(r.micros))
			src.Append(int32(r.src))
			dst.Append(int32(benchSources + r.dst))
			port.Append(int64(r.dport))
			size.Append(r.bytes)
		}
		cols := []arrow.Array{ts.NewArray(), array.NewDictionaryArray(text, src.NewArray(), dict), array.NewDictionaryArray(text, dst.NewArray(), dict), port.NewArray(), size.NewArray()}
		require.NoError(t, w.Write(array.NewRecordBatch(schema, cols, int64(len(part)))))
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
}
