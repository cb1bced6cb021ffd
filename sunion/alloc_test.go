package sunion

import (
	"testing"

	"fednode/query/tuple"
)

// What an SUnion allocates grows with the batches it takes and hands on, not with their rows.
func TestAllocations(t *testing.T) {
	for _, unordered := range []bool{false, true} {
		u, err := New(Config{Schema: benchSchema, Inputs: benchInputs, Bucket: 100 * tuple.Millisecond, Unordered: unordered})
		if err != nil {
			t.Fatal(err)
		}
		left, rows := benchFrames(), 0
		next := func() {
			frames := left[0]
			left = left[1:]
			for in, f := range frames {
				if err := u.Insert(in, f); err != nil {
					t.Fatal(err)
				}
				u.Boundary(in, f.Batch.Time[benchRows-1])
			}
			if err := u.Release(u.Stable(), func(b *tuple.Batch) error { rows += b.Rows(); return nil }); err != nil {
				t.Fatal(err)
			}
		}
		for range benchRounds / 2 { // until buffers are as long as they get
			next()
		}
		rows = 0
		const rounds = 10
		allocs := testing.AllocsPerRun(rounds, next)
		if rows < rounds*benchRows*benchInputs {
			t.Fatalf("unordered=%v: %d rows in %d rounds, want %d at least", unordered, rows, rounds, rounds*benchRows*benchInputs)
		}
		if limit := 3.0 * benchInputs; allocs > limit {
			t.Fatalf("unordered=%v: %v allocations a round of %d frames, want at most %v", unordered, allocs, benchInputs, limit)
		}
	}
}
