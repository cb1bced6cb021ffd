package source

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

// TestSeek shows that a subscriber at any position gets every row and boundary that it lacks, or is told that something
// between has been dropped, whatever has been published and dropped before.
func TestSeek(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := newTail(int64(rapid.IntRange(1000, 8000).Draw(t, "limit")), tuple.Position{Generation: 1, Time: tuple.MinTime})
		var all []*tuple.Frame
		id, clock := uint64(1), tuple.Time(0)
		for range rapid.IntRange(0, 80).Draw(t, "frames") {
			if rapid.IntRange(0, 3).Draw(t, "kind") == 0 {
				n := uint64(rapid.IntRange(1, 3).Draw(t, "rows"))
				all = append(all, tailRows(id, n))
				id += n
			} else {
				clock += tuple.Time(rapid.IntRange(1, 5).Draw(t, "step"))
				all = append(all, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: clock})
			}
			tl.publish(all[len(all)-1])
		}
		p := tuple.Position{Generation: 1, Time: tuple.MinTime} // after it has read so many frames, perhaps within the last
		for _, f := range all[:rapid.IntRange(0, len(all)).Draw(t, "read")] {
			if f.Kind == tuple.Boundary {
				p.Time = f.Time
				continue
			}
			p.ID = f.LastID - uint64(rapid.IntRange(0, int(f.LastID-f.FirstID)).Draw(t, "short"))
		}
		next, ok := tl.seek(p)
		if !ok {
			if len(tl.frames) == len(all) {
				t.Fatalf("%v was refused, though nothing has been dropped", p)
			}
			return
		}
		got := p
		for n := next; n < tl.base+uint64(len(tl.frames)); n++ {
			f := tl.frame(n)
			if f.Kind == tuple.Boundary {
				got.Time = max(got.Time, f.Time)
				continue
			}
			if f.FirstID > got.ID+1 {
				t.Fatalf("from %v: ids %d to %d are missing", p, got.ID+1, f.FirstID-1)
			}
			got.ID = max(got.ID, f.LastID)
		}
		if got.ID != id-1 || clock > 0 && got.Time != clock {
			t.Fatalf("from %v: came to %v, the stream is at %d, %v", p, got, id-1, clock)
		}
	})
}

func tailRows(first, n uint64) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: &tuple.Batch{Time: make([]tuple.Time, n)}}
}

// BenchmarkSeek: a subscriber comes to a source that has been quiet since its last rows, for so many boundaries.
func BenchmarkSeek(b *testing.B) {
	for _, quiet := range []int{100, 10_000, 200_000} {
		b.Run(fmt.Sprint(quiet), func(b *testing.B) {
			t := newTail(1<<40, tuple.Position{Generation: 1, Time: tuple.MinTime})
			t.publish(tailRows(1, 10))
			for at := range quiet {
				t.publish(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.Time(at)})
			}
			for b.Loop() {
				if next, ok := t.seek(tuple.Position{Generation: 1, ID: 10, Time: tuple.Time(quiet - 2)}); !ok || next != uint64(quiet) {
					b.Fatal(next, ok)
				}
			}
		})
	}
}
