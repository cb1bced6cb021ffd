package proc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/link"
	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query/tuple"
	"fednode/testnet"
)

// flooded is a stream of an impostor: it says that it is stable and far ahead of the others, and gives whoever reads it
// tentative rows without end, each frame of a run of its own.
type flooded struct {
	me     string // peer id
	name   string
	schema *tuple.Schema
	asked  atomic.Int64 // subscriptions
	given  atomic.Int64 // frames
}

// ahead is how far the impostor says that it is ahead.
const ahead = time.Minute

// frameRows is how many rows each of its frames has, and sustained how many frames are a flood.
const (
	frameRows = 1000
	sustained = 5000
)

func (f *flooded) Name() string               { return f.name }
func (f *flooded) Schema() *tuple.Schema      { return f.schema }
func (f *flooded) Ack(string, tuple.Position) {}
func (f *flooded) Forget(string)              {}

func (f *flooded) Head() tuple.Position {
	return tuple.Position{Generation: 1, ID: 1 << 40, Time: tuple.TimeOf(time.Now().Add(ahead))}
}

func (f *flooded) Beat() dcaa.StreamStatus { return flow.StatusOf(f.Head()) }

func (f *flooded) Open(flow.Subscriber) (flow.Cursor, error) {
	f.asked.Add(1)
	return f, nil
}

// Next returns a thousand tentative rows.
func (f *flooded) Next(context.Context) (*tuple.Frame, error) {
	n := f.given.Add(1)
	b := tuple.NewBatchBuilder(f.schema)
	at := tuple.TimeOf(time.Now())
	for i := range frameRows {
		b.AppendInt(0, int64(at))
		b.AppendBin(1, []byte("flood"))
		b.AppendInt(2, int64(i)+1)
		b.EndRow(at.Add(int64(i)))
	}
	return &tuple.Frame{Kind: tuple.Tentative, Run: tuple.Run{Producer: f.me, Incarnation: 99, N: uint64(n)}, FirstID: 1, LastID: frameRows, Batch: b.Take()}, nil
}

func (f *flooded) Close() {}

// impostor is a node that has the key and certificate of a real one.
type impostor struct {
	*link.Link
	stream *flooded
}

func (i *impostor) PeerUp(p2p.Peer)                               {}
func (i *impostor) PeerDown(p p2p.Peer, _ p2p.Cause)              { i.Link.PeerDown(p) }
func (i *impostor) Control(p p2p.Peer, m wire.Message)            { i.Link.Control(p, m) }
func (i *impostor) Heard(p2p.Peer, []wire.StreamStatus)           {}
func (i *impostor) Find(string) flow.Stream                       { return i.stream }
func (i *impostor) Shared(string, string) []string                { return []string{i.stream.name} }
func (i *impostor) Version() uint64                               { return 1 }
func (i *impostor) Permit(string, string) (*export.Export, error) { return nil, nil }
func (i *impostor) Data(ctx context.Context, p p2p.Peer, _ uint64, s *p2p.Stream) {
	i.Link.Data(ctx, p, s)
}

// impersonate runs an impostor in the place of a node that has ended, until stop is called.
func impersonate(t *testing.T, dir string, stream *flooded, targets []string) (stop func()) {
	t.Helper()
	d := trust.Dir{Path: dir}
	id, err := d.LoadIdentity()
	require.NoError(t, err)
	registry, err := d.LoadRegistry(trust.DefaultSkew)
	require.NoError(t, err)
	i := &impostor{stream: stream}
	i.Link = link.New(i, zap.NewNop())
	cfg := p2p.Default()
	cfg.Listen = []string{"/ip4/127.0.0.1/tcp/0"}
	host, err := p2p.New(cfg, p2p.Identity{Key: id.Key, Certificate: id.Certificate, Incarnation: uint64(time.Now().UnixNano())}, registry, i, zap.NewNop())
	require.NoError(t, err)
	stream.me = host.ID().String()
	i.Attach(host)
	for _, text := range targets {
		target, err := p2p.ParseTarget(text)
		require.NoError(t, err)
		require.NoError(t, host.Dial(target))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { i.Run(ctx) })
	ended := make(chan error, 1)
	running.Go(func() { ended <- host.Run(ctx) })
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		require.NoError(t, <-ended)
	})
}

// TestProcessFlood: a node of a partner, which runs a replica, says that it is far ahead and floods whoever reads it with
// tentative rows for as long as they take them. That costs those a part of a processor and little memory; everybody goes on, and in
// the end the results are those of an undisturbed run.
func TestProcessFlood(t *testing.T) {
	s, err := testnet.ReadSpec(filepath.Join("testdata", "replicated.toml"))
	require.NoError(t, err)
	net := up(t, s, nil)
	var targets []string
	awaitView(t, net, "results come", func(v *testnet.View) bool { return met(v) && v.Results > 0 })
	for _, n := range net.View(t.Context()).Nodes {
		if n.ID != "east-2" {
			targets = append(targets, n.Status.Node.P2P[0])
		}
	}
	require.NoError(t, net.Stop("east-2"))
	stream := &flooded{name: "north/watch.edge_east.edge_east", schema: tuple.MustSchema(
		tuple.Field{Name: "ts", Type: tuple.Of(tuple.Timestamp)}, tuple.Field{Name: "src", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})}
	stop := impersonate(t, filepath.Join(net.Dir(), "east-2"), stream, targets)
	defer stop()
	began, first := time.Now(), net.View(t.Context())
	last := awaitView(t, net, "there is a flood", func(v *testnet.View) bool { return stream.given.Load() > sustained && answers(v, len(targets)) })
	took := time.Since(began).Seconds()
	for i, n := range last.Nodes {
		require.Equal(t, n.ID != "east-2", n.State == testnet.StateRunning, n.ID)
		if !n.Answers || !first.Nodes[i].Answers {
			continue
		}
		require.Less(t, n.MemoryBytes, int64(512<<20), n.ID)
		used := (n.CPUSeconds - first.Nodes[i].CPUSeconds) / took
		require.Less(t, used, 1.0, "processors of %s", n.ID)
		t.Logf("%s: %.2f of a processor, %d MiB", n.ID, used, n.MemoryBytes>>20)
	}
	stop()
	require.NoError(t, net.Restart(t.Context(), "east-2"))
	files, err := net.StopFeeds()
	require.NoError(t, err)
	want := queryRun(t, filepath.Join("testdata", "watch.toml"), byTime(t, files), []string{"rows", "counts"})
	for _, o := range []string{"rows.csv", "counts.csv"} {
		expected := sum(t, filepath.Join(want, o))
		awaitView(t, net, o+" is that of an undisturbed run", func(*testnet.View) bool { return sum(t, homeFile(net, o)) == expected })
	}
	t.Logf("%d subscriptions, %d frames of a thousand rows", stream.asked.Load(), stream.given.Load())
}

// answers reports whether so many daemons answer.
func answers(v *testnet.View, want int) bool {
	n := 0
	for _, node := range v.Nodes {
		if node.Answers {
			n++
		}
	}
	return n == want
}

// byTime puts the rows of CSV files of one head into one, in the order of their lines, which begin with a time of as many
// digits.
func byTime(t *testing.T, files []string) string {
	t.Helper()
	var head []byte
	var rows [][]byte
	for _, path := range files {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		lines := bytes.SplitAfter(text, []byte("\n"))
		head = lines[0]
		rows = append(rows, lines[1:]...)
	}
	slices.SortFunc(rows, bytes.Compare)
	path := filepath.Join(t.TempDir(), "all.csv")
	require.NoError(t, os.WriteFile(path, append(head, bytes.Join(rows, nil)...), 0o600))
	return path
}
