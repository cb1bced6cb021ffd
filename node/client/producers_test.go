package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
)

func subscriber(name string, from tuple.Position) flow.Subscriber {
	return flow.Subscriber{Name: name, From: from, Durable: from, Counted: true}
}

// breaking is a cursor that breaks after some frames.
type breaking struct {
	flow.Cursor
	left int
}

func (c *breaking) Next(ctx context.Context) (*tuple.Frame, error) {
	if c.left--; c.left < 0 {
		return nil, errCut
	}
	return c.Cursor.Next(ctx)
}

// TestCuts shows that over connections to two replicas that break again and again every id arrives once and in order.
func TestCuts(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		const last = 300
		rnd := rand.New(rand.NewPCG(1, 2))
		for _, n := range []*node{a, b} {
			n.answer = func(int) (flow.Cursor, error) {
				if rnd.IntN(3) == 0 {
					return nil, errCut
				}
				from := beginning // a producer may send again what the consumer holds
				c, err := n.out.Open(flow.Subscriber{Name: "tail", From: from})
				return &breaking{Cursor: c, left: rnd.IntN(250)}, err
			}
			go func() {
				for id := uint64(1); id <= last; id += 3 {
					n.append(stable(id, 3), boundary(tuple.Time(id+3)))
					time.Sleep(10 * time.Millisecond) // virtual
				}
				n.append(boundary(tuple.MaxTime))
			}()
		}
		s := subscribe(t, w, beginning, false)
		next := uint64(1)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour) // virtual
			f, err := s.Next(ctx)
			cancel()
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind == tuple.Boundary && f.Time == tuple.MaxTime {
				break
			}
			if f.Kind != tuple.Insertion {
				continue
			}
			if f.FirstID != next || f.Batch.Cols[0].Int[f.Batch.Row(0)] != int64(next) {
				t.Fatalf("got %v, want id %d next", f, next)
			}
			next = f.LastID + 1
		}
		if next != last+1 {
			t.Fatalf("received up to %d of %d", next-1, last)
		}
	})
}

// TestBrokenPromises shows that a producer which breaks the protocol is left for another, whatever it does, is asked more
// and more rarely if there is no other, and that nothing wrong is delivered.
func TestBrokenPromises(t *testing.T) {
	late := stable(4, 1)
	late.Batch.Time[0] = 2
	for name, wrong := range map[string][]*tuple.Frame{
		"row below a boundary": {stable(1, 3), boundary(4), late},
		"jump":                 {stable(1, 3), boundary(4), stable(6, 1)},
		"other generation":     {stable(1, 3), boundary(4), {Kind: tuple.Insertion, Generation: 2, FirstID: 4, LastID: 4, Batch: rows(4)}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world, a, b *node) {
				w.fail("x/b")
				a.answer = func(int) (flow.Cursor, error) { again := append(given{}, wrong...); return &again, nil }
				s := subscribe(t, w, beginning, false)
				expect(t, s, "stable 1: 1 2 3", "boundary 4")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // virtual
				defer cancel()
				if f, err := s.Next(ctx); err == nil {
					t.Fatalf("got %q", shown(f))
				}
				if a.opened > 45 {
					t.Fatalf("asked %d times within a minute", a.opened)
				}
				b.append(stable(1, 5), boundary(6))
				w.mend("x/b")
				expect(t, s, "stable 4: 4 5", "boundary 6")
			})
		})
	}
}

// TestNewGeneration shows that a source which has lost the end of its log, and reads again what it had delivered, is
// followed into its new generation: the consumer gets a gap that names what it lacks, then what lies behind its boundary,
// and nothing of before.
func TestNewGeneration(t *testing.T) {
	second := func(first uint64, stimes ...tuple.Time) *tuple.Frame {
		return &tuple.Frame{Kind: tuple.Insertion, Generation: 2, FirstID: first, LastID: first + uint64(len(stimes)) - 1, Batch: rows(stimes...)}
	}
	for name, until := range map[string]tuple.Time{"behind the log": 500, "ahead of it": 40} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld("x/a")
				w.nodes["x/a"].answer = func(opening int) (flow.Cursor, error) {
					switch opening {
					case 1:
						return &given{stable(1, 3), boundary(100)}, nil
					case 2:
						return nil, &dcaa.TruncatedError{First: tuple.Position{Generation: 2, Time: until}}
					}
					return &given{second(1, 50, 51), boundary(60), second(3, 98, 99, 100, 101), boundary(110), second(7, 110)}, nil
				}
				s := subscribe(t, w, beginning, false)
				expect(t, s, "stable 1: 1 2 3", "boundary 100")
				f, err := s.Next(t.Context())
				if err != nil || f.Kind != tuple.Gap || f.Generation != 2 || f.Time != 100 || f.To != max(100, until) {
					t.Fatalf("got %v %v", f, err)
				}
				f, err = s.Next(t.Context())
				if err != nil || shown(f) != "stable 3: 100 101" || len(f.IDs) != 2 || f.IDs[0] != 5 {
					t.Fatalf("got %v %v, want the two rows from the boundary on", f, err)
				}
				expect(t, s, "boundary 110", "stable 7: 110")
			})
		})
	}
}

// TestSlowConsumer shows that a consumer which takes its time does not take its own silence for that of the producers:
// nothing is opened anew.
func TestSlowConsumer(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		ctx, cancel := context.WithCancel(t.Context())
		var producing sync.WaitGroup
		for _, n := range []*node{a, b} {
			producing.Go(func() {
				for id := uint64(1); ctx.Err() == nil; id++ {
					n.append(stable(id, 1), boundary(tuple.Time(id+1)))
					time.Sleep(100 * time.Millisecond) // virtual
				}
			})
		}
		s := subscribe(t, w, beginning, false)
		for next := uint64(1); next < 100; {
			f, err := s.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind == tuple.Insertion {
				if f.FirstID != next {
					t.Fatalf("got %v, want id %d", f, next)
				}
				next = f.LastID + 1
			}
			if next%20 == 0 {
				time.Sleep(5 * time.Second) // virtual
			}
		}
		cancel()
		producing.Wait()
		if n := a.opened + b.opened; n > 2 {
			t.Fatalf("opened %d times", n)
		}
	})
}

// TestLink shows that changes of the link are told, and single tries are not.
func TestLink(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		w.fail("x/b")
		a.answer = func(opening int) (flow.Cursor, error) {
			if opening < 5 {
				return nil, errors.New("not yet")
			}
			return a.out.Open(subscriber("me", beginning))
		}
		a.append(stable(1, 1))
		var told []string
		s := Subscribe(Request{Upstream: w.upstream(), Name: "me", From: beginning, Report: func(l Link) {
			if l.Cause != nil {
				told = append(told, l.Cause.Error())
			} else {
				told = append(told, l.Producer)
			}
		}})
		defer s.Close()
		expect(t, s, "stable 1: 1")
		if len(told) != 2 || told[0] != "not yet" || told[1] != "x/a" {
			t.Fatalf("told %q", told)
		}
	})
}

// TestAccepted shows that a replica which gave other rows is not read from when the other one is gone, until somebody
// accepts it.
func TestAccepted(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		summed := func(at tuple.Time, sum uint64) *tuple.Frame {
			f := boundary(at)
			f.Sum = sum
			return f
		}
		a.append(stable(1, 1), summed(2, 77))
		s := subscribe(t, w, beginning, false)
		expect(t, s, "stable 1: 1", "boundary 2")
		b.append(stable(1, 1), summed(2, 99), stable(2, 1), summed(3, 88))
		b.out.SetStatus(dcaa.StreamStatus{State: dcaa.Stable, Boundary: 2, Generation: 1, LastID: 1, Sum: 99})
		w.beat()
		silent(t, s)
		w.fail("x/a")
		silent(t, s)
		s.Accept("x/b")
		expect(t, s, "stable 2: 2", "boundary 3")
	})
}
