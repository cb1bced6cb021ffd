package fragment

import (
	"errors"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"fednode/node/connect"
	"fednode/node/replica"
	"fednode/storage"
)

// gatedPoints stores a point when it is let through, with the error that comes by the gate.
type gatedPoints struct {
	Store
	gate  chan error
	saved []*storage.RecoveryPoint
}

func (g *gatedPoints) SavePoint(p *storage.RecoveryPoint) error {
	if err := <-g.gate; err != nil {
		return err
	}
	g.saved = append(g.saved, p)
	return g.Store.SavePoint(p)
}

// TestTakeoverBesideTheLoop shows that a fragment goes on while the state of another replica is being stored, stores no point of its
// own meanwhile or behind it, and ends once it is there; and that it goes on as before if it cannot be stored.
func TestTakeoverBesideTheLoop(t *testing.T) {
	for _, own := range []bool{false, true} {
		h := newHarness(t, 10)
		points := &gatedPoints{Store: Store{Points: h.points}, gate: make(chan error)}
		r, err := Open(joined{h.net}.apply(Config{Name: "north/q/f", Subscriber: "north/r1/q/f", Plan: planOf(t, lanesQuery), Peers: []string{"north/r2"}, Points: points, Clock: connect.SystemClock{}, Log: zap.NewNop()}))
		if err != nil {
			t.Fatal(err)
		}
		l := newLoop(r)
		works := func() {
			t.Helper()
			if _, err := l.step(); err != nil {
				t.Fatal(err)
			}
		}
		saved := func() error {
			t.Helper()
			return l.stored(<-l.saved)
		}
		x := &takeover{theirs: r.snapshot().complete(), take: replica.Take{true, false}}
		if own { // a point is on its way
			l.pointed--
			if l.cut(); !l.saving {
				t.Fatal("no point is stored")
			}
		}
		l.takeOver(x)
		works()
		if own {
			points.gate <- nil
			if err := saved(); err != nil || !l.saving || len(points.saved) != 1 {
				t.Fatalf("%v; %d points stored, the next on its way: %v", err, len(points.saved), l.saving)
			}
		}
		r.fetching = false
		if r.Transfer(0); r.fetching {
			t.Fatal("another state is asked for")
		}
		points.gate <- errors.New("no room")
		if err := saved(); err != nil || l.saving || r.taking {
			t.Fatalf("%v; a state that could not be stored is waited for", err)
		}
		works()

		l.takeOver(x)
		l.pointed--
		l.cut()
		works()
		before := len(points.saved)
		go func() { points.gate <- nil }()
		if own {
			if err := saved(); !errors.Is(err, ErrTransferred) {
				t.Fatalf("%v, want the end of this life", err)
			}
		} else if err := l.leave(); err != nil {
			t.Fatal(err)
		}
		if n := len(points.saved) - before; n != 1 || l.saving {
			t.Fatalf("%d points stored, want the state of the other replica and none behind it", n)
		}
	}
}

// TestNothingCanBeMadeOfAState shows that a replica whose state cannot be joined to ours counts as one that has none to give: it would
// else be asked again and again, and nobody would ever give up what is lost.
func TestNothingCanBeMadeOfAState(t *testing.T) {
	h := newHarness(t, 10)
	core, logs := observer.New(zap.WarnLevel)
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/f", Subscriber: "north/r1/q/f", Plan: planOf(t, lanesQuery), Peers: []string{"north/r2"}, Points: Store{Points: h.points},
		Clock: connect.SystemClock{}, Log: zap.New(core)}))
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(r)
	l.takeOver(&takeover{theirs: &storage.RecoveryPoint{}, take: replica.Take{true, false}})
	if err := l.stored(<-l.saved); err != nil || r.taking || l.saving {
		t.Fatalf("%v; it is still to be taken over", err)
	}
	if logs.FilterMessageSnippet("another replica is asked").FilterField(zap.String("replica", "north/r2")).Len() != 1 {
		t.Fatalf("%v, want that another replica is asked", logs.All())
	}
}
