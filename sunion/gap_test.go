package sunion

import (
	"errors"
	"testing"

	"fednode/query/tuple"
)

// TestRowsAgainInNewGeneration shows that rows which a new generation has of before the boundary are dropped, while within
// a generation they stay a broken promise.
func TestRowsAgainInNewGeneration(t *testing.T) {
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	u, err := New(Config{Schema: schema, Inputs: 1, Bucket: 10})
	if err != nil {
		t.Fatal(err)
	}
	frame := func(generation uint64, times ...tuple.Time) *tuple.Frame {
		b := tuple.NewBatchBuilder(schema)
		for _, at := range times {
			b.AppendInt(0, int64(at))
			b.EndRow(at)
		}
		return &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: 1, LastID: uint64(len(times)), Batch: b.Take()}
	}
	if err := u.Insert(0, frame(1, 50)); err != nil {
		t.Fatal(err)
	}
	u.Boundary(0, 100)
	u.Gap(0, 2, 0)
	if err := u.Insert(0, frame(2, 60, 100, 130)); err != nil {
		t.Fatalf("rows that come again are refused: %v", err)
	}
	if n := u.Waiting(0); n != 3 {
		t.Fatalf("%d rows wait, want the one of before and the two from the boundary on", n)
	}
	u.Boundary(0, 200)
	late := frame(2, 150)
	late.FirstID, late.LastID = 4, 4
	if err := u.Insert(0, late); !errors.Is(err, ErrBelowBoundary) {
		t.Fatalf("got %v, want the broken promise", err)
	}
}
