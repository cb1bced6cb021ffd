package fragment

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/op"
	"fednode/query/tuple"
	"fednode/storage"
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
	cfg := joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: store, Clock: connect.SystemClock{}, Log: zap.NewNop(), StateBytes: 1})
	r, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	connections, stop := context.WithCancel(t.Context())
	defer r.pullers.Wait()
	defer stop()
	r.ctx = connections
	l := newLoop(r)
	l.failed = true // there is something to store
	l.cut()
	<-store.began
	r.news.Note(flow.News{Name: producer, Up: true}) // rows come, and the state is too large at once
	ended := make(chan error, 1)
	go func() { ended <- l.run(t.Context()) }()
	go func() {
		for r.outputs[0].Head().Time == tuple.MinTime { // until the loop has released what makes it fail
			runtime.Gosched()
		}
		close(store.finish)
	}()
	if err := <-ended; !errors.As(err, new(*op.LimitError)) {
		t.Fatalf("ended with %v, want the limit", err)
	}
	p, _, err := cfg.Points.LoadPoint(cfg.Name)
	if err != nil || p == nil {
		t.Fatalf("the next life begins with %v (%v), want the point that was on its way", p, err)
	}
}
