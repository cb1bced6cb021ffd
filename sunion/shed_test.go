package sunion

import (
	"testing"

	"fednode/query/tuple"
)

// TestSuffixIsBounded shows that tentative rows that nobody takes, as while results are withheld, fill no more memory than
// they may: the newest are held, whatever else happens to the suffix.
func TestSuffixIsBounded(t *testing.T) {
	const most, each = 100, 10
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	u, err := New(Config{Schema: schema, Inputs: 1, Bucket: 10, SuffixRows: most})
	if err != nil {
		t.Fatal(err)
	}
	next := tuple.Time(0)
	insert := func(frames int) {
		for range frames {
			b := tuple.NewBatchBuilder(schema)
			for range each {
				b.AppendInt(0, int64(next))
				b.EndRow(next)
				next++
			}
			u.InsertTentative(0, &tuple.Frame{Kind: tuple.Tentative, FirstID: uint64(next), LastID: uint64(next) + each - 1, Batch: b.Take()})
		}
	}
	want := func(rows int) {
		t.Helper()
		if n := u.inputs[0].suffix.rows; n != rows {
			t.Fatalf("%d rows are held, want %d", n, rows)
		}
	}
	insert(8)
	want(80)
	insert(1000)
	want(most)
	u.TrimTentative(0, next-15)
	want(most - 15)
	u.Boundary(0, next-35)
	want(20)
	u.TentativeBoundary(0, next)
	taken := 0
	if err := u.ReleaseTentative(next.FloorTo(10, 0), func(b *tuple.Batch) error { taken += b.Rows(); return nil }); err != nil {
		t.Fatal(err)
	}
	if taken != 20 {
		t.Fatalf("%d rows went to the fork, want 20", taken)
	}
	want(0)
	insert(3)
	u.UndoTentative(0)
	want(0)
}
