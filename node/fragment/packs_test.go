package fragment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/storage"
	"fednode/storage/memstore"
)

// TestPacksAreShared shows that any number of readers cost two packs of the state at most, whenever they come, and that none
// keeps others from a new one for ever.
func TestPacksAreShared(t *testing.T) {
	var s packs
	now := time.Now()
	take := func(after time.Duration) (p *pack, mine bool) {
		p, mine = s.take(now.Add(after))
		if mine {
			close(p.ready)
		}
		return p, mine
	}
	first, mine := take(0)
	if second, again := take(time.Second); !mine || again || second != first {
		t.Fatal("two that come together read one")
	}
	later, mine := take(freshPack)
	if !mine || later == first {
		t.Fatal("who comes later gets a newer state")
	}
	for k := range 100 {
		if p, mine := take(time.Minute + time.Duration(k)*time.Second); mine || p != later {
			t.Fatal("a third pack while two are read")
		}
	}
	newest, mine := take(oldestPack)
	if !mine || !first.ended() || later.ended() || len(s.list) != mostPacks {
		t.Fatalf("the oldest has to make room: ended %v, %d packs", first.ended(), len(s.list))
	}
	s.leave(first) // of what was taken away
	s.leave(newest)
	if len(s.list) != 1 || s.list[0] != later {
		t.Fatalf("%d packs, want the one that is still read", len(s.list))
	}
	failed, _ := s.take(now.Add(2 * oldestPack))
	failed.err = errors.New("not packed")
	close(failed.ready)
	s.leave(failed)
	if p, mine := take(2 * oldestPack); !mine || p == failed {
		t.Fatal("a pack that failed is read again")
	}
}

// counting counts how often a state is packed.
type counting struct {
	Store
	packs int
}

func (c *counting) PackPoint(p *storage.RecoveryPoint) ([]byte, error) {
	c.packs++
	return c.Store.PackPoint(p)
}

// busy returns a fragment whose loop is never idle, as in a redo of minutes, and ends with the test.
func busy(t *testing.T) (*Runner, *counting) {
	t.Helper()
	h := newHarness(t, 10)
	points, err := storage.NewRecoveryPoints(memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	store := &counting{Store: Store{Points: points}}
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: store, Clock: connect.SystemClock{}, Log: zap.NewNop()}))
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(r)
	l.point = make(chan time.Time)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil { // never idle
			if err := l.glance(ctx); err != nil {
				t.Error(err)
			}
		}
	}()
	t.Cleanup(func() { stop(); <-ended })
	return r, store
}

// TestStateWhileBusy shows that a replica gives its state while it is busy, as with a redo of minutes, and once to all who ask
// together.
func TestStateWhileBusy(t *testing.T) {
	r, store := busy(t)
	var first []byte
	for k := range 3 {
		c, err := r.State().Open(flow.Subscriber{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		f, err := c.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		piece := slices.Clone(f.Batch.Cols[0].Bin(0))
		if k == 0 {
			first = piece
		}
		if !slices.Equal(piece, first) {
			t.Fatal("readers that ask together read different states")
		}
	}
	if store.packs != 1 {
		t.Fatalf("the state was packed %d times for three readers", store.packs)
	}
}

// TestStateOfAnother shows that who waits for a state which another reader was to get, and has gone, gets one all the same.
func TestStateOfAnother(t *testing.T) {
	for _, gone := range []error{context.Canceled, context.DeadlineExceeded, flow.ErrClosed} {
		r, store := busy(t)
		left, mine := r.packs.take(r.cfg.Clock.Now())
		if !mine {
			t.Fatal("somebody reads already")
		}
		left.err = gone
		close(left.ready)
		c, err := r.State().Open(flow.Subscriber{})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := c.Next(t.Context()); err != nil || store.packs != 1 {
			t.Fatalf("after %v: %v, packed %d times", gone, err, store.packs)
		}
	}
}
