package format

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
)

const benchRows = 100_000

func benchStream(b testing.TB) *connect.Stream {
	return stream(b, "ts", "ts timestamp", "src ip", "dst ip", "dport int64", "proto string", "bytes int64")
}

type benchRow struct {
	ts       string
	src, dst string
	dport    int
	proto    string
	bytes    int
}

func benchData() []benchRow {
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, 9999)
	rows := make([]benchRow, benchRows)
	for i := range rows {
		rows[i] = benchRow{fmt.Sprintf("2024-04-19T00:%02d:%02d.%06dZ", i/1000/60%60, i/1000%60, i%1000*1000+7), ipv4(int(zipf.Uint64())), ipv4(1<<16 + rng.IntN(500)),
			rng.IntN(2048), []string{"tcp", "udp", "icmp"}[rng.IntN(3)], rng.IntN(100000)}
	}
	return rows
}

func benchCSV() []byte {
	var b bytes.Buffer
	b.WriteString("ts,src,dst,dport,proto,bytes\n")
	for _, r := range benchData() {
		fmt.Fprintf(&b, "%s,%s,%s,%d,%s,%d\n", r.ts, r.src, r.dst, r.dport, r.proto, r.bytes)
	}
	return b.Bytes()
}

func benchJSON() []byte {
	var b bytes.Buffer
	for _, r := range benchData() {
		fmt.Fprintf(&b, `{"ts":"%s","src":"%s","dst":"%s","dport":%d,"proto":"%s","bytes":%d}`+"\n", r.ts, r.src, r.dst, r.dport, r.proto, r.bytes)
	}
	return b.Bytes()
}

// benchLines are the first n of benchJSON.
func benchLines(n int) string {
	lines := bytes.SplitAfterN(benchJSON(), []byte("\n"), n+1)
	return string(bytes.Join(lines[:n], nil))
}

func benchRead(b *testing.B, s *connect.Stream, o Options, data []byte, rows int) {
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	began := cpuTime(b)
	for b.Loop() {
		r, err := NewReader(s, o, bytes.NewReader(data))
		require.NoError(b, err)
		out := NewRows(s, 4096, &o)
		n := 0
		for {
			err := r.Read(out, true)
			n += out.Take().Rows()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		if n != rows {
			b.Fatalf("%d rows, want %d", n, rows)
		}
	}
	reportCPU(b, began, rows)
}

// cpuTime is what the process has used of the processors, which a machine with other work on it does not blur as it
// does the time of the clock.
func cpuTime(b testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func reportCPU(b *testing.B, began time.Duration, rows int) {
	b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N)/float64(rows), "cpu-ns/row")
}

// BenchmarkCSV reads connection records of six columns, about 66 bytes each; Short reads rows of two numbers.
func BenchmarkCSV(b *testing.B) {
	b.Run("connections", func(b *testing.B) { benchRead(b, benchStream(b), csvOptions(), benchCSV(), benchRows) })
	b.Run("connections-plain-loop", func(b *testing.B) { benchPlainCSV(b, benchCSV()) })
	short := []byte("a,b\n" + rowsText(benchRows, func(i int) string { return strconv.Itoa(i) + "," + strconv.Itoa(i*7%1000) + "\n" }))
	b.Run("short", func(b *testing.B) { benchRead(b, stream(b, "", "a int64", "b int64"), csvOptions(), short, benchRows) })
	unique := []byte("a,b\n" + rowsText(benchRows, func(i int) string { return fmt.Sprintf("C%015x,%d\n", uint64(i)*0x9E3779B97F4A7C15>>4, i) }))
	b.Run("unique-strings", func(b *testing.B) {
		benchRead(b, stream(b, "", "a string", "b int64"), csvOptions(), unique, benchRows)
	})
}

// BenchmarkJSON reads the same records as JSON lines; TwoOfSix declares two of their six columns.
func BenchmarkJSON(b *testing.B) {
	b.Run("connections", func(b *testing.B) { benchRead(b, benchStream(b), jsonOptions(), benchJSON(), benchRows) })
	b.Run("connections-plain-loop", func(b *testing.B) { benchPlainJSON(b, benchJSON()) })
	b.Run("two-of-six", func(b *testing.B) {
		benchRead(b, stream(b, "", "src ip", "dport int64"), jsonOptions(), benchJSON(), benchRows)
	})
}

// benchPlainCSV is the loop a programmer writes by hand for exactly these records: no quotes, no nulls, no checks, the
// time as text of fixed places, addresses interned by their text in a map.
func benchPlainCSV(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	body := data[bytes.IndexByte(data, '\n')+1:]
	began := cpuTime(b)
	for b.Loop() {
		srcs, dsts, protos := map[string]uint32{}, map[string]uint32{}, map[string]uint32{}
		ts, src, dst := make([]int64, 0, benchRows), make([]uint32, 0, benchRows), make([]uint32, 0, benchRows)
		port, proto, size := make([]int64, 0, benchRows), make([]uint32, 0, benchRows), make([]int64, 0, benchRows)
		for i := 0; i < len(body); {
			t, n := plainTime(body[i:]), bytes.IndexByte(body[i:], ',')
			ts, i = append(ts, t), i+n+1
			src, i = plainIntern(srcs, src, body, i)
			dst, i = plainIntern(dsts, dst, body, i)
			port, i = plainInt(port, body, i)
			proto, i = plainIntern(protos, proto, body, i)
			size, i = plainInt(size, body, i)
		}
		if len(size) != benchRows {
			b.Fatal(len(size))
		}
	}
	reportCPU(b, began, benchRows)
}

// benchPlainJSON is the same for JSON lines whose keys always come in one order and without white space: it steps over
// them by their lengths.
func benchPlainJSON(b *testing.B, data []byte) {
	b.SetBytes(int64(len(data)))
	began := cpuTime(b)
	for b.Loop() {
		srcs, dsts, protos := map[string]uint32{}, map[string]uint32{}, map[string]uint32{}
		ts, src, dst := make([]int64, 0, benchRows), make([]uint32, 0, benchRows), make([]uint32, 0, benchRows)
		port, proto, size := make([]int64, 0, benchRows), make([]uint32, 0, benchRows), make([]int64, 0, benchRows)
		for i := 0; i < len(data); {
			i += len(`{"ts":"`)
			ts = append(ts, plainTime(data[i:]))
			i += bytes.IndexByte(data[i:], '"') + len(`","src":"`)
			src, i = plainInternTo(srcs, src, data, i, '"')
			dst, i = plainInternTo(dsts, dst, data, i+len(`,"dst":"`), '"')
			port, i = plainInt(port, data, i+len(`,"dport":`))
			proto, i = plainInternTo(protos, proto, data, i+len(`"proto":"`), '"')
			size, i = plainInt(size, data, i+len(`,"bytes":`))
			i += len("\n")
		}
		if len(size) != benchRows {
			b.Fatal(len(size))
		}
	}
	reportCPU(b, began, benchRows)
}

func plainTime(v []byte) int64 {
	two := func(i int) int64 { return int64(v[i]-'0')*10 + int64(v[i+1]-'0') }
	sec := daysOf(int(two(0)*100+two(2)), int(two(5)), int(two(8)))*86400 + two(11)*3600 + two(14)*60 + two(17)
	micros := int64(0)
	for i := 20; v[i] != 'Z'; i++ {
		micros = micros*10 + int64(v[i]-'0')
	}
	return sec*1_000_000 + micros
}

func plainIntern(m map[string]uint32, out []uint32, data []byte, i int) ([]uint32, int) {
	return plainInternTo(m, out, data, i, ',')
}

func plainInternTo(m map[string]uint32, out []uint32, data []byte, i int, end byte) ([]uint32, int) {
	n := bytes.IndexByte(data[i:], end)
	v := data[i : i+n]
	code, ok := m[string(v)]
	if !ok {
		code = uint32(len(m))
		m[string(v)] = code
	}
	return append(out, code), i + n + 1
}

func plainInt(out []int64, data []byte, i int) ([]int64, int) {
	x := int64(0)
	for ; data[i] >= '0' && data[i] <= '9'; i++ {
		x = x*10 + int64(data[i]-'0')
	}
	return append(out, x), i + 1
}
