package dcaa

import (
	"errors"
	"testing"

	"fednode/query/tuple"
)

// TestTwoGenerations shows that a buffer gives a consumer of the older generation the rest of it, the GAP and the next, that
// acknowledgements of the older drop nothing of the newer, and that who is in neither, or beyond what is dropped, is told so.
func TestTwoGenerations(t *testing.T) {
	const newer = 1 << 40
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	b := NewOutputBuffer(1, start)
	if err := b.Subscribe("a", start, start); err != nil {
		t.Fatal(err)
	}
	b.Append(insertion(1, 4, 10))
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 20})
	b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: newer, Time: 20, To: 30})
	next := *insertion(1, 2, 40)
	next.Generation = newer
	b.Append(&next)
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: newer, Time: 70})
	kinds := func(from tuple.Position) (got []tuple.FrameKind) {
		for f, at, ok := b.Frame(b.Seek(from)); ok; f, at, ok = b.Frame(at + 1) {
			got = append(got, f.Kind)
		}
		return got
	}
	for from, want := range map[tuple.Position]int{
		{Generation: 1, ID: 2, Time: 5}:      5, // the rest of its rows, boundary, gap, rows, boundary
		{Generation: 1, ID: 4, Time: 20}:     3, // from the gap on
		{Generation: 1, ID: 9, Time: 60}:     3, // it got further in the old one elsewhere
		{Generation: newer, ID: 2, Time: 20}: 1, // the last boundary
		{Time: tuple.MinTime}:                5,
	} {
		if got := kinds(from); len(got) != want {
			t.Errorf("at %v: %v, want %d frames", from, got, want)
		}
		if err := b.Reaches(from); err != nil {
			t.Errorf("at %v: %v", from, err)
		}
	}
	var gone *TruncatedError
	if err := b.Reaches(tuple.Position{Generation: 7, ID: 1}); !errors.As(err, &gone) || gone.First != start {
		t.Errorf("a generation that is not known: %v", err)
	}
	b.Ack("a", tuple.Position{Generation: 1, ID: 9, Time: 60})
	if b.Len() != 3 || b.Truncated().Generation != 1 || b.Truncated().ID != 4 {
		t.Errorf("%d frames behind %v are held, want the gap and what follows", b.Len(), b.Truncated())
	}
	b.Ack("a", tuple.Position{Generation: newer, ID: 2, Time: 45})
	b.Ack("a", tuple.Position{Generation: 1, ID: 100, Time: 45}) // late: it says nothing
	if b.Len() != 1 || b.Truncated().Generation != newer || b.Truncated().ID != 2 {
		t.Errorf("%d frames behind %v are held, want the boundary", b.Len(), b.Truncated())
	}
	if err := b.Reaches(tuple.Position{Generation: 1, ID: 4}); !errors.As(err, &gone) || gone.First.ID != 2 {
		t.Errorf("the old generation is gone: %v", err)
	}
	if b.Reaches(tuple.Position{}) == nil {
		t.Error("somebody new is given the newer generation as the whole stream")
	}
}
