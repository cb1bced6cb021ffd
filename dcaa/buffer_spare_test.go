package dcaa

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"fednode/query/tuple"
)

// TestSpare drives a buffer whose counted neighbour acknowledges while a reader that is not counted follows. It shows that the
// reader never misses a row without being told, that it is not told so while what it lacks is within the limit, and that spare
// frames neither pass the limit nor count as held.
func TestSpare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := tuple.Position{Generation: 1, Time: tuple.MinTime}
		b := NewOutputBuffer(1, start)
		limit := 8 * FrameBytes(insertion(1, 1, 0))
		b.KeepSpare(limit)
		if err := b.Subscribe("sink", start, start); err != nil {
			t.Fatal(err)
		}
		head, tail, seq := start, start, b.Seek(start)
		clock := tuple.Time(0)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				f := insertion(head.ID+1, 1, clock)
				f.Generation = head.Generation
				b.Append(f)
				head.ID++
			case 2:
				clock += 10
				head.Time = clock
				b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: head.Generation, Time: clock})
			case 3:
				b.Ack("sink", head)
				for _, f := range b.Unacknowledged() {
					if f.Kind == tuple.Insertion {
						t.Fatalf("ids %d to %d are held at %v", f.FirstID, f.LastID, head)
					}
				}
				if gaps := int64(head.Generation) * FrameBytes(&tuple.Frame{}); b.SpareBytes() > limit+gaps { // a GAP stays while nothing behind it goes
					t.Fatalf("%d bytes are spare, more than %d", b.SpareBytes(), limit)
				}
			case 4:
				if rapid.IntRange(0, 7).Draw(t, "lose") == 0 { // a new generation, behind rows that nobody gives
					clock += 10
					b.Append(&tuple.Frame{Kind: tuple.Gap, Generation: head.Generation + 1, Time: clock, To: clock + 10})
					head = tuple.Position{Generation: head.Generation + 1, Time: head.Time}
				}
			case 5:
				if rapid.Bool().Draw(t, "reconnect") {
					var gone *TruncatedError
					if err := b.SpareReaches(tail); errors.As(err, &gone) {
						if tail.Generation == head.Generation && head.ID-tail.ID <= 2 {
							t.Fatalf("at %v: %v, with the stream at %v", tail, err, head)
						}
						tail = gone.First
					}
					seq = b.Seek(tail)
				}
				tail, seq = follow(t, b, tail, seq)
			}
		}
	})
}

// follow reads all there is, as a cursor does, and fails if rows are missing unnoticed.
func follow(t *rapid.T, b *OutputBuffer, at tuple.Position, seq uint64) (tuple.Position, uint64) {
	for {
		if b.SpareReaches(at) != nil {
			return at, seq // it would be told
		}
		f, n, ok := b.Frame(seq)
		if !ok {
			return at, seq
		}
		seq = n + 1
		if f.Kind == tuple.Insertion && at.Holds(f) {
			continue
		}
		if f.Kind == tuple.Insertion && (f.FirstID > at.ID+1 || f.Generation != at.Generation) {
			t.Fatalf("at %v received ids %d to %d of %d: rows are missing", at, f.FirstID, f.LastID, f.Generation)
		}
		at = at.Past(f)
	}
}

// TestSpareAndGivenUp shows that rows which are given up leave nothing spare: it would end in a hole.
func TestSpareAndGivenUp(t *testing.T) {
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	b := NewOutputBuffer(1, start)
	b.KeepSpare(1 << 20)
	if err := b.Subscribe("sink", start, start); err != nil {
		t.Fatal(err)
	}
	for id := range uint64(10) {
		b.Append(insertion(id+1, 1, tuple.Time(id)))
	}
	b.Ack("sink", tuple.Position{Generation: 1, ID: 4, Time: tuple.MinTime})
	if err := b.SpareReaches(start); err != nil || b.SpareBytes() == 0 {
		t.Fatalf("%v, %d bytes", err, b.SpareBytes())
	}
	b.GiveUp(1, 100)
	var gone *TruncatedError
	if err := b.SpareReaches(tuple.Position{Generation: 1, ID: 2}); !errors.As(err, &gone) || gone.First.ID != 5 || b.SpareBytes() != 0 {
		t.Fatalf("%v, %d bytes; want to be told to begin behind id 5", err, b.SpareBytes())
	}
}

// TestSpareBeforeTentative shows that a reader that is behind what is acknowledged is given that before the tentative rows
// which follow it.
func TestSpareBeforeTentative(t *testing.T) {
	start := tuple.Position{Generation: 1, Time: tuple.MinTime}
	b := NewOutputBuffer(1, start)
	b.KeepSpare(1 << 20)
	if err := b.Subscribe("sink", start, start); err != nil {
		t.Fatal(err)
	}
	for _, at := range []tuple.Time{10, 20} {
		tentative := *insertion(1, 1, at)
		tentative.Kind, tentative.FirstID, tentative.LastID = tuple.Tentative, 0, 0
		b.AppendTentative(&tentative, 1<<20)
	}
	b.Append(insertion(1, 1, 10))
	b.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 15}) // replaces the first
	b.Ack("sink", tuple.Position{Generation: 1, ID: 1, Time: 15})
	if f, _, ok := b.RunFrame(0, b.Seek(start)); ok {
		t.Fatalf("tentative rows at %v before the stable ones", f.Batch.Time)
	}
	if f, _, ok := b.Frame(b.Seek(start)); !ok || f.FirstID != 1 {
		t.Fatal("the stable row is not there")
	}
}
