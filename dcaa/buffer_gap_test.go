package dcaa

import (
	"errors"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

func gapAt(id uint64, from, to tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: id, Time: from, To: to}
}

// gapReader is a counted subscriber that notes which frames it has had, and forgets with a restart what it had not made
// durable.
type gapReader struct {
	p, durable tuple.Position
	seq        uint64
	gaps, kept []tuple.Time // the ends of the gaps it has heard of; kept are durable
}

func (r *gapReader) take(f *tuple.Frame) {
	switch f.Kind {
	case tuple.Insertion:
		r.p.ID = max(r.p.ID, f.LastID)
	case tuple.Boundary:
		r.p.Time = max(r.p.Time, f.Time)
	case tuple.Gap:
		r.gaps = append(r.gaps, f.To)
	}
}

// TestGapsReachEverybody shows that whatever is acknowledged when, and whoever reconnects or restarts, a subscriber has
// heard of every gap before it takes what was appended behind it. The stretches of the gaps lie anywhere: also before what
// all have acknowledged.
func TestGapsReachEverybody(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := tuple.Position{Generation: 1, Time: tuple.MinTime}
		b := NewOutputBuffer(1, start)
		readers := []*gapReader{{p: start, durable: start}, {p: start, durable: start}}
		names := []string{"a", "b"}
		for n, r := range readers {
			if err := b.Subscribe(names[n], r.p, r.durable); err != nil {
				t.Fatal(err)
			}
		}
		next, clock := uint64(1), tuple.Time(0)
		type mark struct {
			id uint64
			to tuple.Time
		}
		var marks []mark // gaps, with the last id before each
		check := func(r *gapReader) {
			for _, m := range marks {
				if r.p.ID > m.id && !slices.Contains(r.gaps, m.to) {
					t.Fatalf("a subscriber at %v has not heard of the gap up to %v behind id %d", r.p, m.to, m.id)
				}
			}
		}
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			n := rapid.IntRange(0, 1).Draw(t, "reader")
			r := readers[n]
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0:
				b.Append(insertion(next, 2, clock))
				next += 2
			case 1:
				clock += 10
				b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: clock})
			case 2:
				to := tuple.Time(len(marks)) - 1_000_000 // each its own, and long acknowledged
				b.Append(gapAt(next-1, to-1, to))
				marks = append(marks, mark{next - 1, to})
			case 3, 4:
				if f, at, ok := b.Frame(r.seq); ok {
					r.seq = at + 1
					r.take(f)
					check(r)
				}
			case 5:
				r.durable, r.kept = r.p, slices.Clone(r.gaps)
				b.Ack(names[n], r.durable)
			case 6:
				r.seq = b.Seek(r.p)
			case 7:
				r.p, r.gaps = r.durable, slices.Clone(r.kept)
				r.seq = b.Seek(r.p)
			}
		}
		b.Append(insertion(next, 1, clock))
		for n, r := range readers {
			for f, at, ok := b.Frame(r.seq); ok; f, at, ok = b.Frame(r.seq) {
				r.seq = at + 1
				r.take(f)
			}
			check(r)
			b.Ack(names[n], r.p)
		}
		if b.Len() != 0 {
			t.Fatalf("%d frames held after a frame behind every gap was acknowledged", b.Len())
		}
	})
}

// TestGapIsNoBoundary shows that a dropped gap promises nothing, and that one is not dropped alone.
func TestGapIsNoBoundary(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	b.Append(gapAt(0, 500, 600))
	b.Append(insertion(1, 1, 10))
	b.Append(gapAt(1, 700, 800))
	b.Shed(0)
	if b.Truncated() != (tuple.Position{Generation: 1, ID: 1, Time: tuple.MinTime}) || b.Len() != 1 {
		t.Fatalf("dropped to %v with %d frames left, want id 1, no boundary, and the last gap", b.Truncated(), b.Len())
	}
}

// TestTruncatedStretch shows that who asks for rows that are gone is told where their stimes end, also where no boundary
// has gone with them.
func TestTruncatedStretch(t *testing.T) {
	b := NewOutputBuffer(1, tuple.Position{Generation: 1, Time: tuple.MinTime})
	b.Append(insertion(1, 2, 40))
	b.Append(insertion(3, 2, 30))
	b.Append(insertion(5, 2, 90))
	if err := b.Subscribe("a", tuple.Position{}, tuple.Position{Generation: 1, ID: 4}); err != nil {
		t.Fatal(err)
	}
	var gone *TruncatedError
	if err := b.Reaches(tuple.Position{Generation: 1}); !errors.As(err, &gone) || gone.First.ID != 4 || gone.First.Time != 41 {
		t.Fatalf("got %v, want the rows before id 4 and before stime 41 to be gone", err)
	}
	if b.Truncated().Time != tuple.MinTime {
		t.Fatalf("a boundary of %v was made of rows", b.Truncated().Time)
	}
}
