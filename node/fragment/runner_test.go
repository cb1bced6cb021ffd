package fragment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/client"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/storage/memstore"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testQuery = `
[query]
name = "q"
max_delay = "inf"

[streams.a]
connector = "node"
stream = "north/a"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }

[streams.b]
connector = "node"
stream = "south/b"
time = "ts"
columns = { ts = "timestamp", k = "string", v = "int64" }

[operators.both]
kind = "union"
inputs = ["a", "b"]

[operators.sums]
kind = "aggregate"
input = "both"
window = { tumbling = "1s" }
group_by = ["k"]
aggregates = { n = "count()", s = "sum(v)", f = "first(v)" }

[outputs.sums]
input = "sums"
connector = "node"
`

func testPlan(t testing.TB) *query.FragmentPlan {
	t.Helper()
	return planOf(t, testQuery)
}

// planOf plans a query of one fragment.
func planOf(t testing.TB, text string) *query.FragmentPlan {
	t.Helper()
	d, problems := query.Parse("q.toml", []byte(text), query.Options{Placement: query.Placement{Home: query.Place{Org: "north"}}})
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	plan := query.NewPlan(d, query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: !strings.Contains(text, "[fragments.")}, problems)
	if len(plan.Fragments) != 1 {
		t.Fatalf("%d fragments", len(plan.Fragments))
	}
	return plan.Fragments[0]
}

// network is a directory of streams that come and go.
type network struct {
	mu      sync.Mutex
	streams map[string]flow.Stream
}

var errAway = errors.New("not here now")

func (n *network) put(s flow.Stream) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[s.Name()] = s
}

func (n *network) find(name string) flow.Stream {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.streams[name]
}

func (n *network) Open(_ context.Context, stream string, s flow.Subscriber) (flow.Cursor, error) {
	if st := n.find(stream); st != nil {
		return st.Open(s)
	}
	return nil, errAway
}

func (n *network) Ack(stream, subscriber string, p tuple.Position) {
	if st := n.find(stream); st != nil {
		st.Ack(subscriber, p)
	}
}

// joined is the network as a fragment sees it: one producer that is always up.
type joined struct{ *network }

const producer = "north/n1"

func (n joined) OpenFrom(ctx context.Context, _, stream string, s flow.Subscriber) (flow.Cursor, error) {
	return n.Open(ctx, stream, s)
}

func (n joined) Ack(stream, subscriber string, _ []string, p tuple.Position) {
	n.network.Ack(stream, subscriber, p)
}

func (n joined) Watch(names []string, note func(flow.News)) (stop func()) {
	for _, name := range names {
		note(flow.News{Name: name, Up: true})
	}
	return func() {}
}

func (n joined) Tell(string, string, dcaa.PermissionMessage) {}

// read subscribes to the results.
func (n *network) read(name string, counted bool) *client.Subscription {
	return n.readStream("north/q/sums", name, counted)
}

// readStream subscribes to an output.
func (n *network) readStream(stream, name string, counted bool) *client.Subscription {
	up := client.Upstream{
		Stream: stream, Producers: []string{producer}, Self: producer, Settings: dcaa.DefaultSettings(),
		Network: joined{n}, Clock: connect.SystemClock{},
	}
	return client.Subscribe(client.Request{Upstream: up, Name: name, From: tuple.Position{Time: tuple.MinTime}, Counted: counted})
}

// settings of a fragment that takes stable results only.
func (n joined) apply(c Config) Config {
	c.Network, c.Self, c.Incarnation, c.Settings = n, producer, 1, dcaa.DefaultSettings()
	c.Settings.MaxDelay = dcaa.Unbounded
	c.Producers = make(map[string][]string)
	for _, in := range c.Plan.Inputs {
		c.Producers[in.Stream] = []string{producer}
	}
	for _, u := range c.Plan.Unions {
		c.Places = append(c.Places, dcaa.Place{Depth: u.Depth, Path: u.Path})
	}
	return c
}

// crashable stores points until it crashes: then nothing more reaches the disk.
type crashable struct {
	Store
	mu   sync.Mutex
	down bool
}

var errDown = errors.New("crashed")

func (c *crashable) SavePoint(p *storage.RecoveryPoint) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.down {
		return errDown
	}
	return c.Store.SavePoint(p)
}

func (c *crashable) crash() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = true
}

// produce fills an output with rows at a rate of one a few milliseconds of stream time, with boundaries between.
func produce(t testing.TB, name string, seed uint64, rows int) *flow.Output {
	t.Helper()
	fields := tuple.MustSchema(tuple.Field{Name: "ts", Type: tuple.Of(tuple.Timestamp)}, tuple.Field{Name: "k", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	out := flow.NewOutput(flow.OutputConfig{Name: name, Schema: fields, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"north/n1/q/sums"}})
	rnd := rand.New(rand.NewPCG(seed, 1))
	b := tuple.NewBatchBuilder(fields)
	at, id := tuple.Time(0), uint64(1)
	for i := range rows {
		at += tuple.Time(rnd.IntN(9000))
		b.AppendInt(0, int64(at))
		b.AppendBin(1, fmt.Appendf(nil, "k%d", rnd.IntN(5)))
		b.AppendInt(2, int64(rnd.IntN(100)))
		b.EndRow(at)
		if rnd.IntN(10) == 0 || i == rows-1 {
			n := uint64(b.Rows())
			out.Append(&tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id + n - 1, Batch: b.Take()})
			id += n
			out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at})
		}
	}
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	return out
}

// harness is a fragment between two producers and one consumer.
type harness struct {
	t           testing.TB
	net         *network
	points      *storage.RecoveryPoints
	waitingRows int    // of the fragment's configuration
	overflow    string // directory; "" puts nothing on disk
	// gaps that the consumer has heard of, over all lives of the fragment
	gaps []*tuple.Frame
	// life of the fragment
	runner *Runner
	store  *crashable
	stop   func()
}

func newHarness(t testing.TB, rows int) *harness {
	t.Helper()
	points, err := storage.NewRecoveryPoints(memstore.New())
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, net: &network{streams: make(map[string]flow.Stream)}, points: points}
	h.net.put(produce(t, "north/a", 1, rows))
	h.net.put(produce(t, "south/b", 2, rows))
	return h
}

func (h *harness) start() {
	h.t.Helper()
	h.store = &crashable{Store: Store{Points: h.points}}
	r, err := Open(joined{h.net}.apply(Config{
		Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(h.t), Points: h.store,
		Clock: connect.SystemClock{}, Log: zap.NewNop(), PointInterval: 2 * time.Millisecond,
		Readers: map[string][]string{"north/q/sums": {"sink"}}, OutputBytes: 4000, WaitingRows: h.waitingRows, OverflowDir: h.overflow, OverflowBytes: 1 << 20,
	}))
	if err != nil {
		h.t.Fatal(err)
	}
	h.runner = r
	for _, o := range r.Outputs() {
		h.net.put(o)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	h.stop = func() {
		cancel()
		if err := <-done; err != nil {
			h.t.Error(err)
		}
	}
}

// collect reads results until the end, calling each after every frame with the number of rows so far.
func (h *harness) collect(each func(rows int)) []string {
	h.t.Helper()
	in := h.net.read("sink", true)
	defer in.Close()
	var got []string
	p := tuple.Position{Time: tuple.MinTime}
	for {
		// A busy machine may be slow; only a test that fails waits so long.
		ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
		f, err := in.Next(ctx)
		cancel()
		if err != nil {
			h.t.Fatalf("%v after %d results, at %v; the status is %+v", err, len(got), p, h.runner.Status())
		}
		switch f.Kind {
		case tuple.Boundary:
			p.Time = f.Time
			if f.Time == tuple.MaxTime {
				return got
			}
		case tuple.Insertion:
			for i := range f.Batch.Rows() {
				got = append(got, line(f, i))
			}
			p.ID, p.Generation = f.LastID, f.Generation
			in.Ack(p)
		case tuple.Gap:
			h.gaps = append(h.gaps, f)
		default:
			h.t.Fatalf("frame %v", f)
		}
		each(len(got))
	}
}

func line(f *tuple.Frame, i int) string {
	r := f.Batch.Row(i)
	s := fmt.Appendf(nil, "%d %v", f.FirstID+uint64(i), f.Batch.Time[r])
	for c := range f.Batch.Cols {
		s = f.Batch.Cols[c].AppendText(append(s, ' '), r)
	}
	return string(s)
}

// TestRestart shows that a fragment which stops or crashes at any moment, again and again, gives its consumer exactly
// the stream of an undisturbed run: same tuples, ids and order.
func TestRestart(t *testing.T) {
	const rows = 3000
	calm := newHarness(t, rows)
	calm.start()
	want := calm.collect(func(int) {})
	calm.stop()
	if len(want) < 50 {
		t.Fatalf("only %d results", len(want))
	}
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 7))
			h := newHarness(t, rows)
			h.start()
			next := 1 + rnd.IntN(8)
			restarts := 0
			got := h.collect(func(n int) {
				if n < next {
					return
				}
				next = n + 1 + rnd.IntN(12)
				restarts++
				if rnd.IntN(2) == 0 {
					h.store.crash()
				}
				h.stop()
				h.start()
			})
			h.stop()
			if !slices.Equal(got, want) {
				t.Fatalf("after %d restarts: %d results, want %d", restarts, len(got), len(want))
			}
			if restarts < 3 {
				t.Fatalf("only %d restarts", restarts)
			}
		})
	}
}

// TestAcknowledgement shows that upstream is acknowledged, and only up to what a durable point covers.
func TestAcknowledgement(t *testing.T) {
	h := newHarness(t, 500)
	h.start()
	h.collect(func(int) {})
	h.stop() // stores a last point
	p, _, err := h.points.Load("north/q/sums")
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range p.Inputs {
		out := h.net.find(in.Stream).(*flow.Output)
		if acked := out.Subscribers()["north/n1/q/sums"]; acked.ID > in.Position.ID {
			t.Errorf("%s: acknowledged %v, the point covers %v", in.Stream, acked, in.Position)
		} else if acked.ID == 0 {
			t.Errorf("%s: nothing was acknowledged", in.Stream)
		}
	}
}

// TestNewInput shows that an input which a recovery point does not know, because the query has been replaced since, begins
// where the others are: none of its earlier rows reaches the operators, which have closed their windows.
func TestNewInput(t *testing.T) {
	const cut = tuple.Time(2 * tuple.Second)
	h := newHarness(t, 500)
	h.start()
	h.collect(func(int) {})
	h.stop()
	p, _, err := h.points.Load("north/q/sums")
	if err != nil {
		t.Fatal(err)
	}
	p.Inputs = slices.DeleteFunc(p.Inputs, func(in storage.InputPosition) bool { return in.Stream == "south/b" })
	p.Boundary = cut
	if err := h.points.Save(p, nil); err != nil {
		t.Fatal(err)
	}
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: connect.SystemClock{}, Log: zap.NewNop()}))
	if err != nil {
		t.Fatal(err)
	}
	for n, in := range r.cfg.Plan.Inputs {
		if _, at, _, _ := r.core.Input(n); in.Stream == "south/b" && at != (tuple.Position{Time: cut}) {
			t.Fatalf("the new input begins at %v, want the boundary of the point", at)
		} else if at.Time < cut {
			t.Fatalf("%s: rows from %v on would be taken", in.Stream, at.Time)
		}
	}
}
