package region

import (
	"fmt"
	"testing"
)

// allToAll is n producers and n consumers, each of whom reads all of them.
func allToAll(n int, k Kind) Diagram {
	all := seq(2 * n)
	return Diagram{Vertices: 2 * n, Exchanges: []Exchange{{Producers: all[:n], Consumers: all[n:], Kind: k}}}
}

// BenchmarkRestart finds the regions of an all-to-all exchange and what a failure restarts, at sizes that show the growth:
// ns/vertex stays, where a search by edges would grow with n.
func BenchmarkRestart(b *testing.B) {
	for _, k := range []Kind{Stored, Pipelined} {
		for _, n := range []int{1000, 2000, 5000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d+%d", k, n, n), func(b *testing.B) {
				d := allToAll(n, k)
				b.ReportAllocs()
				for b.Loop() {
					m, err := New(d)
					if err != nil {
						b.Fatal(err)
					}
					if _, err := m.Restart([]Vertex{0}, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(2*n), "ns/vertex")
			})
		}
	}
}
