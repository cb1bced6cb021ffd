package expr

import (
	"math/rand/v2"
	"testing"

	"fednode/query/tuple"
)

const benchRows = 4096

func benchBatch() *tuple.Batch {
	r := rand.New(rand.NewPCG(1, 2))
	f := func(name string, k tuple.Kind) tuple.Field { return tuple.Field{Name: name, Type: tuple.Of(k)} }
	bb := tuple.NewBatchBuilder(tuple.MustSchema(f("v", tuple.Int64), f("dport", tuple.Int64), f("bytes", tuple.Int64), f("x", tuple.Float64), f("service", tuple.String), f("src", tuple.IP)))
	services := []string{"dns", "http", "ssl", "ssh", "ntp"}
	for range benchRows {
		bb.AppendInt(0, int64(r.IntN(1000)))
		bb.AppendInt(1, int64(r.IntN(2048)))
		bb.AppendInt(2, int64(r.IntN(2000)))
		bb.AppendFloat(3, r.Float64())
		bb.AppendBin(4, []byte(services[r.IntN(len(services))]))
		ip := make([]byte, 16)
		ip[10], ip[11], ip[12], ip[15] = 255, 255, byte(8+r.IntN(4)), byte(r.IntN(200))
		bb.AppendBin(5, ip)
		bb.EndRow(0)
	}
	return bb.Take()
}

func benchSelect(b *testing.B, src string) {
	batch := benchBatch()
	p, errs := Compile(src, batch.Schema)
	if errs != nil {
		b.Fatal(errs)
	}
	e := p.NewEval()
	dst := e.Select(batch, nil)
	b.ReportAllocs()
	for b.Loop() {
		dst = e.Select(batch, dst[:0])
	}
	perRow(b)
}

func benchEval(b *testing.B, src string) {
	batch := benchBatch()
	p, errs := Compile(src, batch.Schema)
	if errs != nil {
		b.Fatal(errs)
	}
	e := p.NewEval()
	e.Eval(batch)
	b.ReportAllocs()
	for b.Loop() {
		e.Eval(batch)
	}
	perRow(b)
}

func perRow(b *testing.B) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
}

func BenchmarkComputeCompare(b *testing.B) { benchSelect(b, "v*2+1 > 1000") }

func BenchmarkComputeComparePlain(b *testing.B) {
	v := benchBatch().Cols[0].Int
	var dst []uint32
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		for i, x := range v {
			if x*2+1 > 1000 {
				dst = append(dst, uint32(i))
			}
		}
	}
	perRow(b)
}

func BenchmarkTwoConditions(b *testing.B) { benchSelect(b, "dport < 1024 and bytes > 1000") }

func BenchmarkTwoConditionsPlain(b *testing.B) {
	batch := benchBatch()
	dport, bytes := batch.Cols[1].Int, batch.Cols[2].Int
	var dst []uint32
	b.ReportAllocs()
	for b.Loop() {
		dst = dst[:0]
		for i := range dport {
			if dport[i] < 1024 && bytes[i] > 1000 {
				dst = append(dst, uint32(i))
			}
		}
	}
	perRow(b)
}

func BenchmarkServiceEquals(b *testing.B)  { benchSelect(b, "service = 'dns'") }
func BenchmarkAddressIn(b *testing.B)      { benchSelect(b, "not ip_in(src, '10.0.0.0/8')") }
func BenchmarkFloatCompare(b *testing.B)   { benchSelect(b, "x > 0.5") }
func BenchmarkEither(b *testing.B)         { benchSelect(b, "dport < 1024 or service = 'dns'") }
func BenchmarkProject(b *testing.B)        { benchEval(b, "bytes * 8") }
func BenchmarkProjectFloat(b *testing.B)   { benchEval(b, "x * 2.5 + 1") }
func BenchmarkLower(b *testing.B)          { benchEval(b, "lower(service)") }
func BenchmarkCase(b *testing.B)           { benchEval(b, "case when dport < 1024 then 'low' else service end") }
func BenchmarkDateTrunc(b *testing.B)      { benchEval(b, "date_trunc('hour', from_unix(v, 's'))") }
func BenchmarkConcatComputed(b *testing.B) { benchEval(b, "service || '-' || service") }
func BenchmarkDivide(b *testing.B)         { benchEval(b, "bytes / dport") }
