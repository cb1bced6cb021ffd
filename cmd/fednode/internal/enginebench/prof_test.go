package enginebench

import "testing"

func BenchmarkOurs(b *testing.B) {
	d := Generate(Default())
	for _, q := range Queries() {
		b.Run(q.Name, func(b *testing.B) {
			for range b.N {
				var r Rows
				if err := runEngine(q, d, Operators, &r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(d.Config.Records), "ns/rec")
		})
	}
}
