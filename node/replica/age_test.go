package replica

import (
	"testing"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// TestAgesOfAStrangeProducer shows that a producer which says impossible ages and stimes far away makes the replica say
// nothing that its own consumers would have to refuse.
func TestAgesOfAStrangeProducer(t *testing.T) {
	for _, age := range []int64{1 << 60, -1 << 60} {
		for _, at := range []tuple.Time{7_000_000, tuple.MaxTime - 1_000_000} {
			w := newWorld(t, scene{plan: testPlan(t, plainQuery), settings: dcaa.DefaultSettings(), replicas: 1, producers: 1})
			x := w.nodes[0]
			for input := range x.inputs {
				c := uint64(1)
				x.r.Opened(w.now, input, c)
				if err := x.r.Frame(w.now, input, c, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at, Age: age}); err != nil {
					t.Fatal(err)
				}
			}
			for busy := true; busy; {
				var err error
				if busy, err = x.r.Advance(w.now); err != nil {
					t.Fatal(err)
				}
			}
			said := 0
			for _, f := range x.outputs[0].stable {
				if f.Kind != tuple.Boundary {
					continue
				}
				said++
				if f.Age > dcaa.MostAge || f.Age < -dcaa.MostAge {
					t.Errorf("boundary %v of age %d", f.Time, f.Age)
				}
			}
			if said == 0 {
				t.Errorf("no boundary came of %v", at)
			}
		}
	}
}
