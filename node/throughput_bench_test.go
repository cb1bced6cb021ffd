package node

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/node/bind"
	"fednode/node/client"
	"fednode/node/config"
	"fednode/node/connect"
	"fednode/node/connect/connectors"
	"fednode/node/export"
	"fednode/node/trust"
	"fednode/node/wire/wirebench"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// memory is a connector kind for measuring: its source repeats batches that were made beforehand, as fast as they are
// taken; its sink counts what it is given and commits at once.
type memory struct {
	batches []*tuple.Batch
	span    int64 // stream time that one pass through the batches takes

	rows  atomic.Uint64 // that the sink has taken
	taken chan struct{} // holds a word whenever rows have grown
}

func newMemory() *memory {
	m := &memory{batches: wirebench.Connections(64, connect.DefaultBlockRows), taken: make(chan struct{}, 1)}
	last := m.batches[len(m.batches)-1].Time
	m.span = int64(last[len(last)-1]-m.batches[0].Time[0]) + 1
	return m
}

func (m *memory) kind() connect.Kind {
	return connect.Kind{
		Name: "memory",
		Source: func(*spec.Reader, *connect.Stream) *connect.SourcePlan {
			return &connect.SourcePlan{Detail: "memory", New: func(connect.Env) connect.Source { return memorySource{m} }}
		},
	}
}

type memorySource struct{ m *memory }

// Open begins at the block that follows pos.
func (s memorySource) Open(_ context.Context, pos []byte) (connect.Reader, error) {
	r := &memoryReader{m: s.m}
	if pos != nil {
		d := tuple.NewDecoder(pos)
		r.next = int(d.Uint())
		return r, d.Close()
	}
	return r, nil
}

type memoryReader struct {
	m    *memory
	next int
}

// Next returns the next batch with its time moved on by the passes before.
func (r *memoryReader) Next(ctx context.Context) (*connect.Block, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	n := len(r.m.batches)
	from, later := r.m.batches[r.next%n], int64(r.next/n)*r.m.span
	b := &tuple.Batch{Schema: from.Schema, Time: make([]tuple.Time, len(from.Time)), Cols: append([]tuple.Column(nil), from.Cols...)}
	b.Cols[0].Int = make([]int64, len(from.Time))
	for i, t := range from.Time {
		b.Time[i], b.Cols[0].Int[i] = t.Add(later), int64(t)+later
	}
	r.next++
	var pos tuple.Encoder
	pos.Uint(uint64(r.next))
	return &connect.Block{Batch: b, Pos: pos.B, Status: connect.Status{State: connect.Behind}}, nil
}

func (*memoryReader) Close() error { return nil }

type memorySink struct{ m *memory }

func (memorySink) Recover(context.Context, []byte) (tuple.Position, error) {
	return tuple.Position{}, nil
}

func (s memorySink) Write(_ context.Context, rows connect.SinkRows) error {
	s.m.rows.Add(uint64(rows.Batch.Rows()))
	select {
	case s.m.taken <- struct{}{}:
	default:
	}
	return nil
}

func (memorySink) Commit(context.Context, tuple.Position) ([]byte, error) { return []byte{}, nil }
func (memorySink) Finish(context.Context) error                           { return nil }
func (memorySink) Close() error                                           { return nil }

// await waits until the sink has taken so many rows.
func (m *memory) await(b *testing.B, rows uint64) {
	for m.rows.Load() < rows {
		select {
		case <-m.taken:
		case <-time.After(10 * time.Second):
			b.Fatalf("%d rows after 10 s without another one, want %d", m.rows.Load(), rows)
		}
	}
}

const benchColumns = `columns = { ts = "timestamp", src = "string", dst = "string", dport = "int64", bytes = "int64" }`

// flood is a query of north that passes the stream of south on through a fragment.
const flood = `
[query]
name = "flood"
max_delay = "inf"
[streams.conns]
connector = "node"
stream = "south/conns"
time = "ts"
` + benchColumns + `
[operators.all]
kind = "filter"
input = "conns"
where = "bytes >= 0"
[fragments.here]
operators = ["all"]
place = { org = "north" }
[outputs.out]
connector = "node"
input = "all"
`

// BenchmarkThroughput: two nodes in this process, a libp2p session between them over loopback. A source proxy at one
// logs what it reads durably and exports it; a client proxy at the other gives it to a sink, as it is or after a
// fragment. An iteration is a block of 4,096 records.
func BenchmarkThroughput(b *testing.B) {
	b.Run("proxies", func(b *testing.B) { throughput(b, "south/conns", "") })
	b.Run("fragment", func(b *testing.B) { throughput(b, "north/flood/out", flood) })
}

func throughput(b *testing.B, stream, query string) {
	m := newMemory()
	south := benchNode(b, m.kind(), "south", "[streams.conns]\nconnector = \"memory\"\ntime = \"ts\"\n"+benchColumns+
		"\n[exports.conns]\nstream = \"conns\"\nto = [\"north\"]\ncolumns = { ts = \"keep\", src = \"keep\", dst = \"keep\", dport = \"keep\", bytes = \"keep\" }\n")
	north := benchNode(b, m.kind(), "north", "")
	befriend(b, south, north)
	south.run(b)
	north.run(b)
	addrs, err := south.node.Addresses(b.Context())
	require.NoError(b, err)
	require.NoError(b, north.node.AddPeer(addrs[0]))
	require.Eventually(b, func() bool { return north.node.streams.peersUp() == 1 }, 10*time.Second, time.Millisecond)
	if query != "" {
		_, err = north.node.Deploy(b.Context(), "flood.toml", []byte(query), false)
		require.NoError(b, err)
	}
	north.consume(b, memorySink{m}, stream)

	rows := uint64(200 * connect.DefaultBlockRows) // until every buffer is full
	m.await(b, rows)
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		rows += connect.DefaultBlockRows
		m.await(b, rows)
	}
	b.StopTimer()
	b.ReportMetric(float64(b.N)*connect.DefaultBlockRows/b.Elapsed().Seconds(), "records/s")
}

// consume gives a stream to a sink until the benchmark ends.
func (n *measured) consume(b testing.TB, sink connect.Sink, stream string) {
	p := client.New(client.Config{
		Upstream: n.node.upstream(stream, n.node.queries.settingsOf(stream)), Name: n.node.name() + "/bench/sink", NewSink: func() connect.Sink { return sink },
		Positions: sinkStore{db: n.node.store, query: "bench"}, Log: zap.NewNop(),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		require.NoError(b, <-done)
	})
}

// measured is a node of the benchmark.
type measured struct {
	dir  trust.Dir
	cfg  *config.Config
	node *Node
}

func benchNode(b testing.TB, kind connect.Kind, org, toml string) *measured {
	d := trust.Dir{Path: filepath.Join(b.TempDir(), org)}
	_, err := d.Init(trust.Setup{Org: org, Node: org + "-1", Now: time.Now(), Random: rand.Reader})
	require.NoError(b, err)
	src := fmt.Sprintf("[node]\norg = %q\nname = %q\n[listen]\np2p = \"127.0.0.1:0\"\napi = \"127.0.0.1:0\"\n%s", org, org+"-1", toml)
	cfg, problems := config.Read(filepath.Join(d.Path, "node.toml"), []byte(src), config.Options{
		Env: os.LookupEnv, Connectors: bind.New(append(connectors.Kinds(), kind)),
		Keys: func(name string) (*export.Key, error) { return &export.Key{Name: name}, nil },
	})
	require.NoError(b, problems.Err())
	return &measured{dir: d, cfg: cfg}
}

func befriend(b testing.TB, x, y *measured) {
	for _, pair := range [][2]*measured{{x, y}, {y, x}} {
		org, err := pair[1].dir.LoadOrg()
		require.NoError(b, err)
		require.NoError(b, pair[0].dir.TrustPartner(org))
	}
}

func (n *measured) run(b testing.TB) {
	var err error
	n.node, err = New(Options{Config: n.cfg, Trust: n.dir, Log: zap.NewNop(), Version: "bench"})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.node.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		require.NoError(b, <-done)
	})
}
