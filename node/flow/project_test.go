package flow

import (
	"context"
	"testing"

	"fednode/query/tuple"
)

// one is a cursor of one frame.
type one struct{ f *tuple.Frame }

func (o one) Next(context.Context) (*tuple.Frame, error) { return o.f, nil }
func (o one) Close()                                     {}

// TestProjectKeepsOrder shows that a projection leaves what is known of the order of the rows.
func TestProjectKeepsOrder(t *testing.T) {
	for _, ordered := range []bool{false, true} {
		f := insertion(1, 3)
		f.Batch.Ordered = ordered
		got, err := Project(one{f}, "a/q/o", schema).Next(t.Context())
		if err != nil || got.Batch.Ordered != ordered || got.Batch.Rows() != 3 {
			t.Fatalf("%v (%v): ordered %v, want %v", got, err, got.Batch.Ordered, ordered)
		}
	}
}
