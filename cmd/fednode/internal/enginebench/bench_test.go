package enginebench

import (
	"testing"

	"fednode/query/op"
	"fednode/query/tuple"
)

// The ratios of the queries to their plain loops; one iteration is five interleaved runs of both.
func BenchmarkEngine(b *testing.B) {
	d := Generate(Default())
	for _, q := range Queries() {
		b.Run(q.Name, func(b *testing.B) { report(b, q, d, Operators) })
	}
	b.Run("Q2-forked", func(b *testing.B) { report(b, Queries()[1], d, forking) })
	b.Run("Q3-forked", func(b *testing.B) { report(b, Queries()[2], d, forking) })
}

func report(b *testing.B, q Query, d *Data, build Build) {
	var r Result
	for range b.N {
		var err error
		if r, err = Run(q, d, build, 5); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(r.NsPerRecord, "ns/record")
	b.ReportMetric(r.PlainNsPerRecord, "plain-ns/record")
	b.ReportMetric(r.Ratio, "ratio")
	b.ReportMetric(r.AllocsPerRecord, "allocs/record")
	b.ReportMetric(0, "ns/op")
}

// forking is an engine that forks each hundred batches, so that a fork of the open window exists all the time.
func forking(q Query, s *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
	e, err := Operators(q, s, sink)
	if err != nil {
		return nil, err
	}
	return &forked{chain: e.(*chain)}, nil
}

type forked struct {
	*chain
	n    int
	kept []op.Operator
}

func (f *forked) Batch(b *tuple.Batch) error {
	if f.n++; f.n%100 == 0 {
		f.kept = f.Fork()
	}
	return f.chain.Batch(b)
}
