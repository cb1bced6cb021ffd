package fragment

import (
	"errors"
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/sunion"
)

// slowStore is a store whose disk takes its time.
type slowStore struct {
	Store
	began, finish chan struct{}
}

func (s *slowStore) SavePoint(p *storage.RecoveryPoint) error {
	close(s.began)
	<-s.finish
	return s.Store.SavePoint(p)
}

// TestFailureAwaitsPoint shows that a fragment which fails while a recovery point is on its way ends only when the point is
// on the disk: its next life begins with that one.
func TestFailureAwaitsPoint(t *testing.T) {
	h := newHarness(t, 10)
	store := &slowStore{Store: Store{Points: h.points}, began: make(chan struct{}), finish: make(chan struct{})}
	cfg := Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Directory: h.net, Points: store, Clock: connect.SystemClock{}, Log: zap.NewNop()}
	r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := newLoop(r)
	r.released = 5000
	l.cut()
	<-store.began
	r.unions[0].Boundary(0, 9000)
	b := tuple.NewBatchBuilder(r.cfg.Plan.Inputs[0].Schema)
	for c := range r.cfg.Plan.Inputs[0].Schema.Len() {
		b.AppendNull(c)
	}
	b.EndRow(8000)
	r.arrivals <- arrival{frame: &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: 1, LastID: 1, Batch: b.Take()}}
	ended := make(chan error, 1)
	go func() { ended <- l.run(t.Context()) }()
	go func() {
		for len(r.arrivals) > 0 { // until the loop has taken what makes it fail
			r.Status()
		}
		close(store.finish)
	}()
	if err := <-ended; !errors.Is(err, sunion.ErrBelowBoundary) {
		t.Fatalf("ended with %v, want the broken promise", err)
	}
	p, _, err := cfg.Points.LoadPoint(cfg.Name)
	if err != nil || p == nil || p.Boundary != 5000 {
		t.Fatalf("the next life begins with %v (%v), want the point that was on its way", p, err)
	}
}
