package enginebench

import "testing"

// The ratios of the queries to their plain loops; one iteration is five interleaved runs of both.
func BenchmarkEngine(b *testing.B) {
	d := Generate(Default())
	for _, q := range Queries() {
		b.Run(q.Name, func(b *testing.B) { report(b, q, d, Operators) })
	}
	b.Run("Q2-forked", func(b *testing.B) { report(b, Queries()[1], d, Forked) })
	b.Run("Q3-forked", func(b *testing.B) { report(b, Queries()[2], d, Forked) })
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
