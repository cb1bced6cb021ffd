package ingest

import (
	"testing"

	"fednode/query/tuple"
)

// BenchmarkRows decides about batches of 4,096 rows: in order, a little out of order, and with one late row in each.
func BenchmarkRows(b *testing.B) {
	const rows = 4096
	for _, c := range []struct {
		name     string
		slack    int64
		disorder int64
		late     bool
	}{{"in order", 0, 0, false}, {"within slack", 1000, 64, false}, {"any order", Unbounded, 1 << 20, false}, {"one late", 1000, 0, true}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Bounded()
			cfg.MaxOutOfOrder = c.slack
			times := make([]tuple.Time, rows)
			d := New(cfg, 0)
			in := batch(times...)
			at := int64(1 << 40)
			b.ReportAllocs()
			for b.Loop() {
				for i := range in.Time {
					at++
					in.Time[i] = tuple.Time(at)
					if c.disorder > 0 {
						in.Time[i] -= tuple.Time(at * 7919 % c.disorder)
					}
				}
				if c.late {
					in.Time[rows/2] = 0
				}
				d.Rows(in, 0, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
