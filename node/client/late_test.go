package client

import (
	"testing"

	"fednode/query/tuple"
)

// passing begins a subscription that counts for nothing.
func passing(t *testing.T, w *world, from tuple.Position) *Subscription {
	s := Subscribe(Request{Upstream: w.upstream(), Name: "tail", From: from})
	t.Cleanup(s.Close)
	return s
}

// after is what is acknowledged up to an id.
func after(id uint64, t tuple.Time) tuple.Position {
	return tuple.Position{Generation: 1, ID: id, Time: t}
}

// narrow is a limit of outputs that keep nothing of what is acknowledged, for want of room.
const narrow = 1 << 10

// nextGap shows that the next event is a gap up to an id.
func nextGap(t *testing.T, s *Subscription, id uint64) *tuple.Frame {
	t.Helper()
	f, err := s.Next(t.Context())
	if err != nil || f.Kind != tuple.Gap || f.FirstID != id {
		t.Fatalf("got %v %v, want a gap up to id %d", f, err, id)
	}
	return f
}

// TestLateTail shows that who counts for nothing is told of rows that are gone, rather than wait for them for ever, and
// still learns that the stream has ended.
func TestLateTail(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		for _, n := range []*node{a, b} {
			n.out = output(narrow)
			n.append(stable(1, 3), stable(4, 3))
			n.out.Ack("me", after(3, tuple.MinTime))
		}
		nextGap(t, passing(t, w, beginning), 3)
		for _, n := range []*node{a, b} {
			n.append(boundary(tuple.MaxTime))
			n.out.Ack("me", after(6, tuple.MaxTime))
		}
		if f := nextGap(t, passing(t, w, beginning), 6); f.To != tuple.MaxTime {
			t.Fatalf("got %v, want a gap up to the end", f)
		}
		expect(t, passing(t, w, after(6, tuple.MinTime)), "boundary all")
	})
}

// TestSlowTail shows that a tail that is overtaken by acknowledgements hears of the gap as soon as it reads on, and that
// rows which one replica still has are no gap.
func TestSlowTail(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		a.out, b.out = output(narrow), output(narrow)
		w.fail("x/b")
		s := passing(t, w, beginning)
		a.append(stable(1, 3))
		expect(t, s, "stable 1: 1 2 3")
		for id := uint64(4); id < 40; id += 3 {
			a.append(stable(id, 3))
			b.append(stable(id, 3))
		}
		a.out.Ack("me", after(36, tuple.MinTime))
		for {
			f, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind == tuple.Gap {
				if f.FirstID != 36 {
					t.Fatalf("got %v, want a gap up to id 36", f)
				}
				break
			}
		}
		expect(t, s, "stable 37: 37 38 39")
	})
}
