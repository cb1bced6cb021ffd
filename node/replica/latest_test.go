package replica

import (
	"testing"

	"fednode/query/tuple"
)

// TestLatest shows that only rows that are there say how far a batch reaches.
func TestLatest(t *testing.T) {
	for _, c := range []struct {
		b    tuple.Batch
		want tuple.Time
	}{
		{tuple.Batch{}, tuple.MinTime},
		{tuple.Batch{Time: []tuple.Time{3, 9, 5}}, 9},
		{tuple.Batch{Time: []tuple.Time{3, 5, 9}, Ordered: true}, 9},
		{tuple.Batch{Time: []tuple.Time{3, 9, 5}, Sel: []uint32{2, 0}}, 5},
		{tuple.Batch{Time: []tuple.Time{3, 5, 9}, Sel: []uint32{0, 1}, Ordered: true}, 5},
		{tuple.Batch{Time: []tuple.Time{3, 5}, Sel: []uint32{}}, tuple.MinTime},
	} {
		if got := latest(&c.b); got != c.want {
			t.Errorf("%v %v ordered=%v: %v, want %v", c.b.Time, c.b.Sel, c.b.Ordered, got, c.want)
		}
	}
}
