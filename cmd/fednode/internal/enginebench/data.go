package enginebench

import (
	"fmt"
	"math/rand/v2"

	"fednode/query/tuple"
)

// Config says how many records there are and how they are spread.
type Config struct {
	Seed    uint64
	Records int
	// Sources is the number of addresses that open connections, some far more often than others (Zipf, exponent 1.1).
	Sources int
	// PerWindow is the number of records in 60 s.
	PerWindow int
	BatchRows int
}

// Default is the load that the targets are stated for: four windows, so that they fill, close and are reused.
func Default() Config {
	return Config{Seed: 1, Records: 4_800_000, Sources: 10_000, PerWindow: 1_200_000, BatchRows: 4096}
}

// Data are connection records in order of stime, in batches; the source and destination columns have one dictionary each.
type Data struct {
	Config  Config
	Schema  *tuple.Schema
	Batches []*tuple.Batch
}

// Columns of the records.
const (
	colSrc = iota
	colDst
	colPort
	colBytes
)

// window is the length of the windows of the queries.
const window = 60 * tuple.Second

// Generate makes the records of a seed: the same ones on every machine.
func Generate(c Config) *Data {
	d := &Data{Config: c, Schema: tuple.MustSchema(
		tuple.Field{Name: "src", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "dst", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "bytes", Type: tuple.Of(tuple.Int64)},
	)}
	rng := rand.New(rand.NewPCG(c.Seed, 0x666564))
	src, dst := addresses(rng, "10", c.Sources), addresses(rng, "172", max(1, c.Sources/4))
	source := rand.NewZipf(rng, 1.1, 8, uint64(c.Sources-1))
	target := rand.NewZipf(rng, 1.2, 4, uint64(dst.Len()-1))
	for at := 0; at < c.Records; at += c.BatchRows {
		n := min(c.BatchRows, c.Records-at)
		b := &tuple.Batch{Schema: d.Schema, Time: make([]tuple.Time, n), Cols: []tuple.Column{
			{Type: tuple.Of(tuple.String), Code: make([]uint32, n), Dict: src},
			{Type: tuple.Of(tuple.String), Code: make([]uint32, n), Dict: dst},
			{Type: tuple.Of(tuple.Int64), Int: make([]int64, n)},
			{Type: tuple.Of(tuple.Int64), Int: make([]int64, n)},
		}}
		for i := range n {
			b.Time[i] = tuple.Time(int64(at+i) * window / int64(c.PerWindow))
			b.Cols[colSrc].Code[i] = uint32(source.Uint64())
			b.Cols[colDst].Code[i] = uint32(target.Uint64())
			b.Cols[colPort].Int[i] = port(rng, b.Cols[colSrc].Code[i])
			b.Cols[colBytes].Int[i] = 40 + int64(rng.ExpFloat64()*3000)
		}
		d.Batches = append(d.Batches, b)
	}
	return d
}

// addresses returns a dictionary of n addresses in no order.
func addresses(rng *rand.Rand, net string, n int) *tuple.Dict {
	b := tuple.NewDictBuilder()
	for b.Len() < n {
		v := rng.Uint32()
		b.Intern(fmt.Appendf(nil, "%s.%d.%d.%d", net, v>>16&0xFF, v>>8&0xFF, v&0xFF))
	}
	return b.Dict()
}

// port draws a port: one source in 32 tries any; the others mostly use the well-known ones, and now and then a registered
// one.
func port(rng *rand.Rand, source uint32) int64 {
	known := [...]int64{443, 443, 443, 443, 80, 80, 53, 53, 53, 22, 25, 123, 993, 3306, 5432, 8080}
	switch {
	case source%32 == 7:
		return int64(1 + rng.IntN(65535))
	case rng.IntN(20) == 0:
		return int64(1024 + 7*rng.IntN(1000))
	}
	return known[rng.IntN(len(known))]
}
