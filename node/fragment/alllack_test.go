package fragment

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/storage/memstore"
)

// mates are two replicas of a fragment, each at its own node and started again when it has taken over a state.
type mates struct {
	t         *testing.T
	net       *network
	at        map[string]*network
	points    map[string]*storage.RecoveryPoints
	transfers atomic.Int64
}

func newMates(t *testing.T, net *network) *mates {
	m := &mates{t: t, net: net, at: make(map[string]*network), points: make(map[string]*storage.RecoveryPoints)}
	for _, name := range []string{"north/r1", "north/r2"} {
		p, err := storage.NewRecoveryPoints(memstore.New())
		if err != nil {
			t.Fatal(err)
		}
		m.at[name], m.points[name] = &network{streams: make(map[string]flow.Stream)}, p
	}
	return m
}

// start runs a replica; stop ends it with a last recovery point.
func (m *mates) start(self, peer string) (stop func()) {
	ctx, cancel := context.WithCancel(m.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cfg := joined{m.net}.apply(Config{Name: "north/q/sums", Subscriber: self + "/q/sums", Plan: testPlan(m.t), Points: Store{Points: m.points[self]}, Clock: connect.SystemClock{}, Log: zap.NewNop(),
				PointInterval: 2 * time.Millisecond, Readers: map[string][]string{"north/q/sums": {"sink"}}})
			cfg.Self, cfg.Peers, cfg.Network = self, []string{peer}, pair{joined: joined{m.net}, at: m.at}
			r, err := Open(cfg)
			if err != nil {
				m.t.Error(err)
				return
			}
			m.at[self].put(r.Outputs()[0])
			m.at[self].put(r.State())
			switch err := r.Run(ctx); {
			case errors.Is(err, ErrTransferred):
				m.transfers.Add(1)
			case err != nil:
				m.t.Error(err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

// wait waits for a condition.
func (m *mates) wait(what string, ok func() bool) {
	m.t.Helper()
	for patience := time.After(time.Minute); !ok(); {
		select {
		case <-time.After(time.Millisecond):
		case <-patience:
			m.t.Fatalf("waited for: %s; %d states were taken over", what, m.transfers.Load())
		}
	}
}

// ends waits until a replica has given all results.
func (m *mates) ends(name string) {
	m.t.Helper()
	m.wait(name+" has given all", func() bool {
		o, ok := m.at[name].find("north/q/sums").(*flow.Output)
		return ok && o.Head().Time == tuple.MaxTime
	})
}

// covered waits until recovery points of a replica cover a stream up to an stime.
func (m *mates) covered(name string, o *flow.Output, at tuple.Time) {
	m.t.Helper()
	m.wait(name+" has stored what it has read", func() bool { return o.Subscribers()[name+"/q/sums"].Time >= at })
}

// ending says where the first half of a stream ends.
type ending int

const (
	atBucket ending = iota
	withinBucket
)

// halves returns a stream's first rows, up to the end of a bucket or into one, and the others as a producer gives them that
// numbers anew and holds nothing else. cut is the end of the last bucket that is complete in the first half.
func halves(t *testing.T, o *flow.Output, bucket int64, at ending, subscribers ...string) (first, second *flow.Output, cut tuple.Time) {
	t.Helper()
	_, frames := o.Unacknowledged()
	begin := func(generation uint64) *flow.Output {
		return flow.NewOutput(flow.OutputConfig{Name: o.Name(), Schema: o.Schema(), Limit: 1 << 30, Generation: generation, Start: tuple.Position{Generation: generation, Time: tuple.MinTime}, Expected: subscribers})
	}
	first, second, cut = begin(1), begin(2), tuple.MinTime
	boundary := tuple.MinTime
	high, anew := tuple.MinTime, uint64(1)
	for n, f := range frames {
		if f.Kind == tuple.Insertion && cut == tuple.MinTime && n >= len(frames)/2 {
			switch begins := f.Batch.Time[0].FloorTo(bucket, 0); {
			case at == atBucket && begins > high:
				cut = begins
				first.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: cut})
			case at == withinBucket && begins <= high && begins >= boundary.FloorTo(bucket, 0):
				cut = boundary.FloorTo(bucket, 0)
			}
		}
		switch {
		case cut == tuple.MinTime:
			first.Append(f)
			if f.Kind == tuple.Boundary {
				boundary = f.Time
			}
		case f.Kind == tuple.Insertion:
			later := *f
			later.Generation, later.FirstID, later.LastID = 2, anew, anew+f.LastID-f.FirstID
			anew = later.LastID + 1
			second.Append(&later)
		default:
			second.Append(f)
		}
		if f.Kind == tuple.Insertion {
			high = slices.Max(f.Batch.Time)
		}
	}
	if cut == tuple.MinTime {
		t.Fatal("no place for the cut")
	}
	return first, second, cut
}

// TestAllLackTheSame shows that replicas whose input begins a new generation go on behind a GAP, and give the same results
// with the same ids: no one's state helps the other.
func TestAllLackTheSame(t *testing.T) {
	for name, at := range map[string]ending{"at a bucket's end": atBucket, "within a bucket": withinBucket} {
		t.Run(name, func(t *testing.T) { allLack(t, at) })
	}
}

func allLack(t *testing.T, at ending) {
	h := newHarness(t, 2000)
	m := newMates(t, h.net)
	a, again, cut := halves(t, h.net.find("north/a").(*flow.Output), testPlan(t).Bucket, at, "north/r1/q/sums", "north/r2/q/sums")
	h.net.put(a)
	stops := []func(){m.start("north/r1", "north/r2"), m.start("north/r2", "north/r1")}
	m.covered("north/r1", a, cut)
	m.covered("north/r2", a, cut)
	h.net.put(again)
	a.Close()
	m.ends("north/r1")
	m.ends("north/r2")
	if n := m.transfers.Load(); n > 2 {
		t.Errorf("%d states were taken over", n)
	}
	want := collectWithGaps(t, m.at["north/r1"])
	if got := collectWithGaps(t, m.at["north/r2"]); !slices.Equal(got, want) {
		t.Errorf("%d results of the second replica, the first has %d; %d states were taken over", len(got), len(want), m.transfers.Load())
	}
	for _, stop := range stops {
		stop()
	}
}

// collectWithGaps reads all results of one replica.
func collectWithGaps(t *testing.T, n *network) (got []string) {
	t.Helper()
	in := n.read("reader", false)
	defer in.Close()
	for {
		f, err := in.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.Kind == tuple.Insertion:
			for i := range f.Batch.Rows() {
				got = append(got, line(f, i))
			}
		case f.Kind == tuple.Boundary && f.Time == tuple.MaxTime:
			return got
		}
	}
}

// spoiled is the stream of a state that cannot be restored.
type spoiled struct{ *StateStream }

func (s spoiled) Open(sub flow.Subscriber) (flow.Cursor, error) {
	points, err := storage.NewRecoveryPoints(memstore.New())
	if err != nil {
		return nil, err
	}
	b, err := points.Pack(&storage.RecoveryPoint{Fragment: "north/q/sums", Boundary: 7, Operators: []storage.OperatorState{{Name: instanceState, Version: instanceVersion, Snapshot: []byte("nonsense")}},
		Inputs: []storage.InputPosition{{Stream: "north/a", Position: tuple.Position{Generation: 9, ID: 9}}}})
	return &stateCursor{s: s.StateStream, state: b, pack: &pack{gone: make(chan struct{})}, next: 1, closed: make(chan struct{})}, err
}

// TestSpoiledState shows that a state which cannot be restored is refused, and does not take the place of one that can.
func TestSpoiledState(t *testing.T) {
	h := newHarness(t, 2000)
	m := newMates(t, h.net)
	a, again, cut := halves(t, h.net.find("north/a").(*flow.Output), testPlan(t).Bucket, atBucket, "north/r1/q/sums")
	h.net.put(a)
	stop := m.start("north/r1", "north/r2")
	m.covered("north/r1", a, cut)
	m.at["north/r2"].put(spoiled{m.at["north/r1"].find(StateName("north/q/sums")).(*StateStream)})
	h.net.put(again)
	a.Close()
	m.ends("north/r1")
	if n := m.transfers.Load(); n != 0 {
		t.Errorf("a state of nonsense was taken over %d times", n)
	}
	stop()
}
