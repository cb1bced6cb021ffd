package balance

import (
	"fmt"
	"testing"
)

// A round of a large organisation at rest, and one that has to spread all load from a tenth of the nodes.
func BenchmarkRound(b *testing.B) {
	for _, nodes := range []int{50, 500} {
		for _, at := range []string{"rest", "heap"} {
			b.Run(fmt.Sprintf("%s/%d", at, nodes), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					o := crowd(b, nodes, at == "heap")
					b.StartTimer()
					o.Round()
				}
			})
		}
	}
}

func crowd(b *testing.B, nodes int, heaped bool) *Balancer {
	o, err := New(Default())
	if err != nil {
		b.Fatal(err)
	}
	for i := range nodes {
		if err := o.Join(cpuNode(fmt.Sprintf("n%03d", i), 100)); err != nil {
			b.Fatal(err)
		}
	}
	for k := range 10 * nodes {
		on := k % nodes
		if heaped {
			on %= max(1, nodes/10)
		}
		if err := o.Adopt(Unit{ID: UnitID(fmt.Sprintf("u%05d", k)), Expected: Load{CPU: 5}}, NodeID(fmt.Sprintf("n%03d", on))); err != nil {
			b.Fatal(err)
		}
	}
	report(b, o, -1, once)
	return o
}
