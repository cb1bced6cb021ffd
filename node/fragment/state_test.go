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
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/storage/memstore"
)

// pair is the network of two replicas of one fragment: the streams of each at its own node.
type pair struct {
	joined
	at map[string]*network
}

func (p pair) OpenFrom(ctx context.Context, from, stream string, s flow.Subscriber) (flow.Cursor, error) {
	if n := p.at[from]; n != nil {
		return n.Open(ctx, stream, s)
	}
	return p.joined.OpenFrom(ctx, from, stream, s)
}

// TestStateTransfer shows that a replica whose input is gone from all producers takes over the state of another one, and
// then gives the same results from there on, without a gap.
func TestStateTransfer(t *testing.T) {
	const rows = 3000
	h := newHarness(t, rows)
	for _, name := range []string{"north/a", "south/b"} {
		h.net.find(name).(*flow.Output).Forget("north/n1/q/sums")
	}
	mates := map[string]*network{"north/r1": {streams: make(map[string]flow.Stream)}, "north/r2": {streams: make(map[string]flow.Stream)}}
	open := func(self, peer string, points *storage.RecoveryPoints) *Runner {
		cfg := joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: self + "/q/sums", Plan: testPlan(t), Points: Store{Points: points}, Clock: connect.SystemClock{}, Log: zap.NewNop(), PointInterval: 2 * time.Millisecond,
			Readers: map[string][]string{"north/q/sums": {"sink"}}})
		cfg.Self, cfg.Peers, cfg.Network = self, []string{peer}, pair{joined: joined{h.net}, at: mates}
		r, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		mates[self].put(r.Outputs()[0])
		mates[self].put(r.State())
		return r
	}
	store := func() *storage.RecoveryPoints {
		p, err := storage.NewRecoveryPoints(memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	run := func(r *Runner) (ended chan error, stop func()) {
		ctx, cancel := context.WithCancel(t.Context())
		ended = make(chan error, 1)
		go func() { ended <- r.Run(ctx) }()
		return ended, cancel
	}
	first := open("north/r1", "north/r2", store())
	ended, stop := run(first)
	defer func() { stop(); <-ended }()
	want := collectFrom(t, mates["north/r1"])
	// All has been acknowledged and dropped: a new replica cannot begin at the beginning.
	gone := func() bool {
		a, _ := h.net.find("north/a").(*flow.Output).Held()
		b, _ := h.net.find("south/b").(*flow.Output).Held()
		return a == 0 && b == 0
	}
	for patience := time.After(time.Minute); !gone(); {
		select {
		case <-time.After(time.Millisecond):
		case <-patience:
			t.Fatal("the inputs still hold what the first replica has acknowledged")
		}
	}
	points := store()
	second, stop2 := run(open("north/r2", "north/r1", points))
	defer stop2()
	if err := <-second; !errors.Is(err, ErrTransferred) {
		t.Fatalf("the new replica ended with %v, want to begin anew with the other's state", err)
	}
	again := open("north/r2", "north/r1", points)
	third, stop3 := run(again)
	defer func() { stop3(); <-third }()
	if got := collectFrom(t, mates["north/r2"]); !slices.Equal(got, want) {
		t.Fatalf("%d results of the second replica, want the %d of the first", len(got), len(want))
	}
}

// collectFrom reads all results of one replica; its sink acknowledges nothing.
func collectFrom(t *testing.T, n *network) []string {
	t.Helper()
	return collectStream(t, n, "north/q/sums")
}

// collectStream reads all that one replica gives of an output.
func collectStream(t *testing.T, n *network, stream string) []string {
	t.Helper()
	in := n.readStream(stream, "reader", false)
	defer in.Close()
	var got []string
	for {
		f, err := in.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch f.Kind {
		case tuple.Insertion:
			for i := range f.Batch.Rows() {
				got = append(got, line(f, i))
			}
		case tuple.Boundary:
			if f.Time == tuple.MaxTime {
				return got
			}
		default:
			t.Fatalf("frame %v", f)
		}
	}
}
