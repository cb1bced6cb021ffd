package client

import (
	"testing"
	"testing/synctest"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

var beginning = tuple.Position{Time: tuple.MinTime}

// subscribe begins a subscription of all nodes in a bubble of virtual time.
func subscribe(t *testing.T, w *world, from tuple.Position, latest bool) *Subscription {
	s := Subscribe(Request{Upstream: w.upstream(), Name: "me", From: from, Counted: true, Latest: latest})
	t.Cleanup(s.Close)
	return s
}

// inBubble runs a test in virtual time, over replicas a and b that send heartbeats.
func inBubble(t *testing.T, test func(t *testing.T, w *world, a, b *node)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld("x/a", "x/b")
		go w.beats(t.Context())
		test(t, w, w.nodes["x/a"], w.nodes["x/b"])
	})
}

// TestSwitch shows that the stream goes on from another replica where the first one left it, and that no row is lost or
// comes twice, although the second is behind at first.
func TestSwitch(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		a.append(stable(1, 4), boundary(5))
		b.append(stable(1, 2))
		s := subscribe(t, w, beginning, false)
		expect(t, s, "stable 1: 1 2 3 4", "boundary 5")
		w.fail("x/a")
		b.append(stable(3, 3), boundary(6))
		expect(t, s, "stable 5: 5", "boundary 6")
		w.mend("x/a")
		w.fail("x/b")
		a.append(stable(5, 3), boundary(8))
		expect(t, s, "stable 6: 6 7", "boundary 8")
		silent(t, s)
	})
}

// TestCorrected shows that tentative rows come after the stable ones, and that what becomes of them is told: those before
// a boundary are replaced, and at last all.
func TestCorrected(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, _ *node) {
		w.fail("x/b")
		run := runOf("a")
		s := subscribe(t, w, beginning, true)
		a.append(stable(1, 3), boundary(4), tentative(run, 1, 4, 6, 8), tentativeBoundary(run, 9))
		expect(t, s, "stable 1: 1 2 3", "boundary 4", "tentative: 4 6 8", "tentative boundary 9")
		a.append(stable(4, 3), boundary(7))
		expect(t, s, "stable 4: 4 5 6", "done before 7", "boundary 7")
		a.append(stable(7, 3), boundary(10))
		expect(t, s, "stable 7: 7 8 9", "done before all", "boundary 10")
		silent(t, s)
	})
}

// TestCorrectedBeyond shows that tentative rows beyond all boundaries stay when a stable boundary passes the tentative one:
// they are what the suffix is complete to once its boundary has risen above them.
func TestCorrectedBeyond(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, _ *node) {
		w.fail("x/b")
		run := runOf("a")
		s := subscribe(t, w, beginning, true)
		a.append(stable(1, 3), boundary(4), tentative(run, 1, 4, 6), tentativeBoundary(run, 7), tentative(run, 3, 8, 12))
		expect(t, s, "stable 1: 1 2 3", "boundary 4", "tentative: 4 6", "tentative boundary 7", "tentative: 8 12")
		a.append(stable(4, 6), boundary(10))
		expect(t, s, "stable 4: 4 5 6 7 8 9", "done before 10", "boundary 10")
		a.append(tentativeBoundary(run, 13))
		expect(t, s, "tentative boundary 13")
		a.append(stable(10, 3), boundary(13))
		expect(t, s, "stable 10: 10 11 12", "done before all", "boundary 13")
		silent(t, s)
	})
}

// TestStableOnly shows that who does not want tentative results gets none.
func TestStableOnly(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, _ *node) {
		run := runOf("a")
		s := subscribe(t, w, beginning, false)
		a.append(stable(1, 3), boundary(4), tentative(run, 1, 4, 6), tentativeBoundary(run, 7))
		expect(t, s, "stable 1: 1 2 3", "boundary 4")
		silent(t, s)
		a.append(stable(4, 1), boundary(8), &tuple.Frame{Kind: tuple.RecDone, Run: run})
		expect(t, s, "stable 4: 4", "boundary 8")
		silent(t, s)
	})
}

// TestUndo shows that an UNDO voids what was delivered, once, and that a new run begins anew.
func TestUndo(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, _ *node) {
		w.fail("x/b")
		run, second := runOf("a"), runOf("a")
		second.N = 2
		s := subscribe(t, w, beginning, true)
		a.append(stable(1, 3), boundary(4), tentative(run, 1, 4, 6), tentativeBoundary(run, 7))
		expect(t, s, "stable 1: 1 2 3", "boundary 4", "tentative: 4 6", "tentative boundary 7")
		a.append(&tuple.Frame{Kind: tuple.Undo, Run: run})
		expect(t, s, "undo from all")
		a.append(tentative(second, 1, 5), tentativeBoundary(second, 7))
		expect(t, s, "tentative: 5", "tentative boundary 7")
		a.append(&tuple.Frame{Kind: tuple.RecDone, Run: second})
		silent(t, s) // the word alone ends nothing: what is stable has not got as far
		a.append(boundary(7))
		expect(t, s, "done before all", "boundary 7")
		silent(t, s)
	})
}

// TestCarriedOn shows that another replica's run carries the tentative suffix on: what lies before the tentative boundary
// is not given again, and what came beyond it is voided first.
func TestCarriedOn(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		first, second := runOf("a"), runOf("b")
		a.append(stable(1, 3), boundary(4))
		b.append(stable(1, 3), boundary(4))
		s := subscribe(t, w, beginning, true)
		expect(t, s, "stable 1: 1 2 3", "boundary 4")
		a.state(dcaa.UpstreamFailure)
		b.state(dcaa.UpstreamFailure)
		a.append(tentative(first, 1, 4, 6), tentativeBoundary(first, 7), tentative(first, 3, 7, 8))
		b.append(tentative(second, 1, 4, 5, 7, 8, 9), tentativeBoundary(second, 10))
		expect(t, s, "tentative: 4 6", "tentative boundary 7", "tentative: 7 8")
		w.fail("x/a")
		expect(t, s, "undo from 7", "tentative: 7 8 9", "tentative boundary 10")
		w.mend("x/a") // which has gone on with its run meanwhile
		w.fail("x/b")
		a.append(tentativeBoundary(first, 10), tentative(first, 5, 11))
		expect(t, s, "tentative: 11")
		silent(t, s)
	})
}

// TestCorrections shows that corrections are taken from a replica that makes them while another one serves tentative
// results.
func TestCorrections(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		run := runOf("a")
		w.fail("x/b")
		a.append(stable(1, 3), boundary(4))
		s := subscribe(t, w, beginning, true)
		expect(t, s, "stable 1: 1 2 3", "boundary 4")
		a.append(tentative(run, 1, 4, 6), tentativeBoundary(run, 7))
		a.state(dcaa.UpstreamFailure)
		expect(t, s, "tentative: 4 6", "tentative boundary 7")
		b.append(stable(1, 4), boundary(5))
		b.state(dcaa.Stabilization)
		w.mend("x/b")
		expect(t, s, "stable 4: 4", "done before 5", "boundary 5")
		b.append(stable(5, 3), boundary(8))
		expect(t, s, "stable 5: 5 6 7", "done before all", "boundary 8")
	})
}

// TestGap shows that a subscriber whose place is gone at every replica is told what is missing, and goes on behind it.
func TestGap(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		for _, n := range []*node{a, b} {
			n.out.Forget("me")
			n.append(stable(1, 3), boundary(4))
			if _, err := n.out.Open(subscriber("other", beginning)); err != nil {
				t.Fatal(err)
			}
			n.out.Ack("other", tuple.Position{Generation: 1, ID: 3, Time: 4})
			n.append(stable(4, 3), boundary(7))
		}
		s := subscribe(t, w, beginning, false)
		f, err := s.Next(t.Context())
		if err != nil || f.Kind != tuple.Gap || f.FirstID != 3 {
			t.Fatalf("got %v %v, want a gap up to id 3", f, err)
		}
		for f.Kind != tuple.Insertion {
			if f, err = s.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := shown(f); got != "stable 4: 4 5 6" {
			t.Fatalf("got %q", got)
		}
		expect(t, s, "boundary 7")
	})
}

// TestAwayMayHold shows that who is counted waits a while for a replica that is away before it gives up rows that the others
// do not hold.
func TestAwayMayHold(t *testing.T) {
	for name, away := range map[string]time.Duration{"comes back": 5 * time.Second, "stays away": time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world, a, b *node) {
				a.out.Ack("me", tuple.Position{Generation: 1, ID: 0, Time: tuple.MinTime})
				for _, n := range []*node{a, b} {
					n.append(stable(1, 3), boundary(4))
				}
				a.out.Ack("me", tuple.Position{Generation: 1, ID: 3, Time: 4})
				w.fail("x/b")
				time.AfterFunc(away, func() { w.mend("x/b") })
				s := subscribe(t, w, beginning, false)
				if away < time.Minute {
					expect(t, s, "stable 1: 1 2 3", "boundary 4")
					return
				}
				began := time.Now()
				nextGap(t, s, 3)
				if waited := time.Since(began); waited < 2*time.Minute || waited > 2*time.Minute+5*time.Second {
					t.Fatalf("waited for %v", waited)
				}
			})
		})
	}
}

// TestResumes shows that a subscription goes on behind its position.
func TestResumes(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		a.append(stable(1, 6), boundary(7))
		b.append(stable(1, 6), boundary(7))
		s := subscribe(t, w, tuple.Position{Generation: 1, ID: 4, Time: 5}, true)
		expect(t, s, "stable 5: 5 6", "boundary 7")
		silent(t, s)
	})
}

// TestAcknowledged shows that every replica hears what the consumer's durable state covers, and one that was down hears it
// when the stream is opened there.
func TestAcknowledged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		a.append(stable(1, 3), boundary(4))
		b.append(stable(1, 3), boundary(4))
		s := subscribe(t, w, beginning, false)
		expect(t, s, "stable 1: 1 2 3", "boundary 4")
		s.Ack(tuple.Position{Generation: 1, ID: 3, Time: 4})
		for _, n := range []*node{a, b} {
			if got := n.out.Subscribers()["me"]; got.ID != 3 {
				t.Fatalf("%s has counted %v as acknowledged", n.name, got)
			}
		}
	})
}
