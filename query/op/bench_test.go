package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// chain hands what one operator emits to the next.
type chain struct {
	next op.Operator
	out  op.Out
}

func (c chain) Batch(_ int, b *tuple.Batch) error { return c.next.Process(0, b, c.out) }

// countRows counts what arrives and touches every value of it.
type countRows struct{ rows int }

func (c *countRows) Batch(_ int, b *tuple.Batch) error {
	c.rows += b.Rows()
	return nil
}

const benchRows = 4096

// benchConns are connection records: 10,000 sources, one dictionary for all batches.
func benchConns(b *testing.B, batches int) (op.Input, []*tuple.Batch) {
	b.Helper()
	s, err := optest.Schema("src ip, dst ip, dport int64, bytes int64")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 1, 9999)
	dict := tuple.NewDictBuilder()
	for i := range 10_000 {
		dict.Intern([]byte{10: 0xff, 11: 0xff, 12: 10, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)})
	}
	var out []*tuple.Batch
	at := tuple.Time(0)
	for range batches {
		r := &tuple.Batch{Schema: s, Cols: make([]tuple.Column, 4)}
		for j, f := range s.Fields() {
			r.Cols[j].Reset(f.Type)
		}
		r.Cols[0].Dict, r.Cols[1].Dict = dict.Dict(), dict.Dict()
		for range benchRows {
			at += 50
			r.Time = append(r.Time, at)
			r.Cols[0].Code = append(r.Cols[0].Code, uint32(zipf.Uint64()))
			r.Cols[1].Code = append(r.Cols[1].Code, uint32(zipf.Uint64()))
			r.Cols[2].Int = append(r.Cols[2].Int, int64(rng.IntN(4096)))
			r.Cols[3].Int = append(r.Cols[3].Int, int64(rng.IntN(4000)))
		}
		out = append(out, r)
	}
	return op.Input{Name: "conns", Schema: s}, out
}

func mustBuild(b *testing.B, kind, text string, in ...op.Input) *op.Plan {
	b.Helper()
	p, err := optest.Build(kind, text, in)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// BenchmarkFilterMap is the query dport < 1024 and bytes > 1000 → src, dst, bytes·8, against a plain loop.
func BenchmarkFilterMap(b *testing.B) {
	in, batches := benchConns(b, 64)
	filter := mustBuild(b, "filter", `where = "dport < 1024 and bytes > 1000"`, in)
	mapper := mustBuild(b, "map", `columns = { src = "src", dst = "dst", bits = "bytes * 8" }`, op.Input{Name: "f", Schema: filter.Ports[0].Schema})
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		sink := &countRows{}
		f, m := filter.New(), mapper.New()
		for i := 0; b.Loop(); i++ {
			if err := f.Process(0, batches[i%len(batches)], chain{m, sink}); err != nil {
				b.Fatal(err)
			}
		}
		perRow(b, benchRows)
	})
	b.Run("plain", func(b *testing.B) {
		var p plainFilterMap
		for i := 0; b.Loop(); i++ {
			p.run(batches[i%len(batches)])
		}
		perRow(b, benchRows)
	})
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// plainFilterMap is the loop one would write by hand for that query.
type plainFilterMap struct {
	time     []tuple.Time
	src, dst []uint32
	bits     []int64
}

func (p *plainFilterMap) run(b *tuple.Batch) {
	p.time, p.src, p.dst, p.bits = p.time[:0], p.src[:0], p.dst[:0], p.bits[:0]
	src, dst, dport, bytes := b.Cols[0].Code, b.Cols[1].Code, b.Cols[2].Int, b.Cols[3].Int
	for i, t := range b.Time {
		if dport[i] < 1024 && bytes[i] > 1000 {
			p.time = append(p.time, t)
			p.src = append(p.src, src[i])
			p.dst = append(p.dst, dst[i])
			p.bits = append(p.bits, bytes[i]*8)
		}
	}
}

// BenchmarkJoinSame joins two windowed results of so many groups, every one of them matched.
func BenchmarkJoinSame(b *testing.B) {
	for _, groups := range []int{100, 10_000} {
		b.Run(fmt.Sprint(groups), func(b *testing.B) {
			s, err := optest.Schema("window_start timestamp, window_end timestamp, src ip, n int64")
			if err != nil {
				b.Fatal(err)
			}
			in := op.Input{Name: "w", Schema: s}
			o := mustBuild(b, "join", "on = [\"src\"]\nwindow = \"same\"\ncolumns = { l = \"left.n\", r = \"right.n\" }", in, in).New()
			w := benchWindow(s, groups)
			sink := &countRows{}
			b.ReportAllocs()
			n := tuple.Time(0)
			for b.Loop() {
				for i := range w.Time {
					w.Time[i] = n*60_000_000 + 59_999_999
					w.Cols[0].Int[i], w.Cols[1].Int[i] = int64(n)*60_000_000, int64(n+1)*60_000_000
				}
				n++
				for port := range 2 {
					if err := o.Process(port, w, sink); err != nil {
						b.Fatal(err)
					}
				}
				for port := range 2 {
					if _, err := o.Boundary(port, n*60_000_000, sink); err != nil {
						b.Fatal(err)
					}
				}
			}
			if sink.rows != int(n)*groups {
				b.Fatalf("%d rows joined of %d", sink.rows, int(n)*groups)
			}
			perRow(b, 2*groups)
		})
	}
}

func benchWindow(s *tuple.Schema, groups int) *tuple.Batch {
	bb := tuple.NewBatchBuilder(s)
	for i := range groups {
		bb.AppendInt(0, 0)
		bb.AppendInt(1, 0)
		bb.AppendBin(2, []byte{10: 0xff, 11: 0xff, 12: 10, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)})
		bb.AppendInt(3, int64(i))
		bb.EndRow(0)
	}
	return bb.Take()
}

// BenchmarkUnion merges streams whose rows alternate.
func BenchmarkUnion(b *testing.B) {
	in, batches := benchConns(b, 16)
	o := mustBuild(b, "union", "", in, in, in, in).New()
	sink := &countRows{}
	b.ReportAllocs()
	last := tuple.Time(0)
	for i := 0; b.Loop(); i++ {
		w := *batches[i%len(batches)]
		w.Time = append([]tuple.Time(nil), w.Time...)
		for k := range w.Time {
			last += 50
			w.Time[k] = last
		}
		for port := range 4 {
			if err := o.Process(port, &w, sink); err != nil {
				b.Fatal(err)
			}
		}
		for port := range 4 {
			if _, err := o.Boundary(port, last+1, sink); err != nil {
				b.Fatal(err)
			}
		}
	}
	perRow(b, 4*benchRows)
}

// BenchmarkKeyed runs the kinds that keep something for every key over 10,000 keys, and again after a fork that is gone.
func BenchmarkKeyed(b *testing.B) {
	in, batches := benchConns(b, 16)
	for _, c := range []struct{ kind, text string }{
		{"dedup", "by = [\"src\", \"dport\"]\nwithin = \"1s\""},
		{"throttle", "key = [\"src\"]\ntype = \"limit\"\ncount = 2\nper = \"10s\""},
		{"over", "key = [\"src\"]\nadd = { usual = \"avg(bytes, 10)\", last = \"lag(dport)\" }\nttl = \"1h\""},
		{"pattern", "key = [\"src\"]\nwithin = \"1s\"\nsteps = [{ name = \"a\", where = \"dport < 100\", min = 3 }, { name = \"b\", where = \"bytes > 3000\" }]"},
		{"sample", "fraction = 0.1\nby = [\"src\"]"},
	} {
		for _, forked := range []bool{false, true} {
			name := c.kind
			if forked {
				name += "-after-a-fork"
			}
			b.Run(name, func(b *testing.B) { benchKeyed(b, mustBuild(b, c.kind, c.text, in).New(), batches, forked) })
		}
	}
}

func benchKeyed(b *testing.B, o op.Operator, batches []*tuple.Batch, forked bool) {
	sink := &countRows{}
	last := tuple.Time(0)
	times := make([]tuple.Time, benchRows)
	step := func(i int) {
		w := *batches[i%len(batches)]
		for k := range times {
			last += 50
			times[k] = last
		}
		w.Time = times
		if err := o.Process(0, &w, sink); err != nil {
			b.Fatal(err)
		}
		if _, err := o.Boundary(0, last, sink); err != nil {
			b.Fatal(err)
		}
	}
	warm := 4 * len(batches)
	for i := range warm {
		if forked && i == warm/2 {
			o.Fork()
		}
		step(i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		step(i)
	}
	perRow(b, benchRows)
}
