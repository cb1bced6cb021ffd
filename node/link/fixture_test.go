package link

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/client"
	"fednode/node/connect"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patient is how long a test waits for what must come.
const patient = time.Minute

// shelf is the streams of a node, and who may have them.
type shelf struct {
	mu      sync.Mutex
	streams map[string]flow.Stream
	denied  error // to every other organisation
	export  *export.Export
	shared  []string
	version uint64
}

func (s *shelf) put(st flow.Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.streams[st.Name()] = st
}

func (s *shelf) deny(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = err
}

func (s *shelf) Find(stream string) flow.Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[stream]
}

func (s *shelf) Permit(string, string) (*export.Export, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.export, s.denied
}

// end is one of two nodes: a host whose messages its link takes.
type end struct {
	*Link
	host  *p2p.Host
	shelf *shelf
	up    chan struct{} // capacity 1
}

func (e *end) PeerUp(p2p.Peer) {
	select {
	case e.up <- struct{}{}:
	default:
	}
}

func (e *end) PeerDown(p p2p.Peer, c p2p.Cause) {
	if c.Kind != p2p.CauseSilent && c.Kind != p2p.CauseDeaf {
		e.Link.PeerDown(p)
	}
}

func (e *end) Control(p p2p.Peer, m wire.Message) { e.Link.Control(p, m) }

func (e *end) Heard(p2p.Peer, []wire.StreamStatus) {}

func (e *end) Data(ctx context.Context, p p2p.Peer, _ uint64, s *p2p.Stream) { e.Link.Data(ctx, p, s) }

// between makes the nodes of two organisations that trust each other, with a session between them. The first produces.
func between(t *testing.T) (producer, consumer *end) {
	t.Helper()
	north, south := found(t, "north"), found(t, "south")
	require.NoError(t, north.registry.Trust(south.identity.Org))
	require.NoError(t, south.registry.Trust(north.identity.Org))
	producer, consumer = north.run(t), south.run(t)
	require.Eventually(t, func() bool { return len(producer.host.Addrs()) > 0 }, patient, time.Millisecond)
	target, err := p2p.ParseTarget(producer.host.Addrs()[0].String() + "/p2p/" + producer.host.ID().String())
	require.NoError(t, err)
	require.NoError(t, consumer.host.Dial(target))
	for _, e := range []*end{producer, consumer} {
		select {
		case <-e.up:
		case <-time.After(patient):
			t.Fatal("waited for the session")
		}
	}
	return producer, consumer
}

// organisation is the files of a node.
type organisation struct {
	identity *trust.Identity
	registry *trust.Registry
}

func found(t *testing.T, org string) organisation {
	t.Helper()
	d := trust.Dir{Path: filepath.Join(t.TempDir(), org)}
	id, err := d.Init(trust.Setup{Org: org, Node: "n", Now: time.Now(), Random: rand.Reader})
	require.NoError(t, err)
	registry, err := d.LoadRegistry(trust.DefaultSkew)
	require.NoError(t, err)
	return organisation{identity: id, registry: registry}
}

// run runs a node until the test ends.
func (o organisation) run(t *testing.T) *end {
	t.Helper()
	e := &end{shelf: &shelf{streams: make(map[string]flow.Stream)}, up: make(chan struct{}, 1)}
	e.Link = New(e.shelf, zap.NewNop())
	cfg := p2p.Default()
	cfg.Listen = []string{"/ip4/127.0.0.1/tcp/0"}
	cfg.Heartbeat, cfg.Miss, cfg.Abandon, cfg.HelloTimeout = 200*time.Millisecond, 100, patient, 20*time.Second
	cfg.Redial = p2p.Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond}
	host, err := p2p.New(cfg, p2p.Identity{Key: o.identity.Key, Certificate: o.identity.Certificate, Incarnation: 1}, o.registry, e, zap.NewNop())
	require.NoError(t, err)
	e.host = host
	e.Attach(host)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { e.Run(ctx) })
	running.Go(func() {
		if err := host.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() { cancel(); running.Wait() })
	return e
}

// network is the peer as a subscription reaches it.
type network struct {
	at   *end
	from peer.ID
}

func (n network) OpenFrom(ctx context.Context, _, stream string, s flow.Subscriber) (flow.Cursor, error) {
	return n.at.Link.Open(ctx, n.from, stream, s)
}

func (n network) Ack(stream, subscriber string, _ []string, p tuple.Position) {
	n.at.Link.Ack(n.from, stream, subscriber, p)
}

func (n network) Watch(names []string, note func(flow.News)) (stop func()) {
	for _, name := range names {
		note(flow.News{Name: name, Up: true})
	}
	return func() {}
}

// follow subscribes to a stream of the producer.
func follow(consumer, producer *end, from tuple.Position) *client.Subscription {
	up := client.Upstream{
		Stream: "north/q/o", Producers: []string{"north/n"}, Settings: dcaa.DefaultSettings(),
		Network: network{consumer, producer.host.ID()}, Clock: connect.SystemClock{},
	}
	return client.Subscribe(client.Request{Upstream: up, Name: "south/n/q/f", From: from, Counted: true})
}

var (
	schema    = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	beginning = tuple.Position{Time: tuple.MinTime}
)

// rows makes a frame of n rows from an id on, at stimes that are their ids.
func rows(first, n uint64) *tuple.Frame {
	b := tuple.NewBatchBuilder(schema)
	for i := range n {
		b.AppendInt(0, int64(first+i))
		b.EndRow(tuple.Time(first + i))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()}
}

func boundary(at tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: at}
}

// output makes a stream of the producer.
func (e *end) output(name string, expected ...string) *flow.Output {
	o := flow.NewOutput(flow.OutputConfig{Name: name, Schema: schema, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Generation: 1, Time: tuple.MinTime}, Expected: expected, Own: "north/"})
	e.shelf.put(o)
	return o
}

// share lets a node be told of streams that it may not subscribe to.
func (s *shelf) share(names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shared = names
	s.version++
}

// Shared returns what share has set.
func (s *shelf) Shared(string, string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shared
}

// Version changes with what share has set.
func (s *shelf) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}
