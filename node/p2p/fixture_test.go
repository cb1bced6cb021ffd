package p2p

import (
	"context"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"fednode/node/trust"
	"fednode/node/wire"
)

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = time.Minute

// take returns what comes over a channel, and fails the test if nothing does.
func take[T any](t testing.TB, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patient):
		t.Fatalf("waited for %s", what)
		panic("unreachable")
	}
}

// person is a node's files and beliefs.
type person struct {
	dir      trust.Dir
	identity *trust.Identity
	registry *trust.Registry
}

// found makes an organisation with one node.
func found(t testing.TB, org, node string) *person {
	t.Helper()
	d := trust.Dir{Path: filepath.Join(t.TempDir(), org+"-"+node)}
	id, err := d.Init(trust.Setup{Org: org, Node: node, Now: time.Now(), Random: rand.Reader})
	require.NoError(t, err)
	reg, err := d.LoadRegistry(trust.DefaultSkew)
	require.NoError(t, err)
	return &person{dir: d, identity: id, registry: reg}
}

// enrol makes another node of p's organisation.
func (p *person) enrol(t testing.TB, node string) *person {
	t.Helper()
	key, err := trust.GenerateKey(trust.RoleNode, p.identity.Org.Name, rand.Reader)
	require.NoError(t, err)
	cert, err := trust.CertifyNode(p.identity.Nodes, node, key.Public(), time.Now())
	require.NoError(t, err)
	reg, err := trust.NewRegistry(p.identity.Org, trust.DefaultSkew)
	require.NoError(t, err)
	return &person{identity: &trust.Identity{Key: key, Certificate: cert, Org: p.identity.Org}, registry: reg}
}

// befriend makes two organisations trust each other.
func befriend(t testing.TB, a, b *person) {
	t.Helper()
	require.NoError(t, a.registry.Trust(b.identity.Org))
	require.NoError(t, b.registry.Trust(a.identity.Org))
}

// recorder is a handler that keeps what it is told.
type recorder struct {
	mu     sync.Mutex
	change chan struct{} // closed and replaced at each event
	lines  []string
	up     map[peer.ID]Peer
	got    []wire.Message
	beats  []wire.StreamStatus // what ours say
	heard  map[peer.ID][]wire.StreamStatus
	serve  func(ctx context.Context, p Peer, subscription uint64, s *Stream)
	busy   chan struct{} // Control returns once it is closed; nil at once. Fixed before the first session
}

func newRecorder() *recorder {
	return &recorder{change: make(chan struct{}), up: make(map[peer.ID]Peer), heard: make(map[peer.ID][]wire.StreamStatus)}
}

func (r *recorder) note(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.change)
	r.change = make(chan struct{})
}

func (r *recorder) PeerUp(p Peer) {
	r.note(func() {
		r.up[p.ID] = p
		r.lines = append(r.lines, fmt.Sprintf("up %s resumed=%v", p.Member, p.Resumed))
	})
}

func (r *recorder) PeerDown(p Peer, c Cause) {
	r.note(func() {
		delete(r.up, p.ID)
		r.lines = append(r.lines, fmt.Sprintf("down %s %s", p.Member, c.Kind))
	})
}

func (r *recorder) Control(_ Peer, m wire.Message) {
	if r.busy != nil {
		<-r.busy
	}
	r.note(func() { r.got = append(r.got, m) })
}

func (r *recorder) Beat(Peer) []wire.StreamStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.beats
}

func (r *recorder) Heard(p Peer, s []wire.StreamStatus) { r.note(func() { r.heard[p.ID] = s }) }

func (r *recorder) Data(ctx context.Context, p Peer, subscription uint64, s *Stream) {
	if r.serve != nil {
		r.serve(ctx, p, subscription, s)
	}
}

// wait blocks until the condition holds.
func (r *recorder) wait(t testing.TB, what string, ok func() bool) {
	t.Helper()
	timeout := time.After(patient)
	for {
		r.mu.Lock()
		done, change := ok(), r.change
		r.mu.Unlock()
		if done {
			return
		}
		select {
		case <-change:
		case <-timeout:
			r.mu.Lock()
			defer r.mu.Unlock()
			t.Fatalf("waited for %s; events so far:\n%s", what, strings.Join(r.lines, "\n"))
		}
	}
}

func (r *recorder) waitUp(t testing.TB, id peer.ID) Peer {
	t.Helper()
	r.wait(t, "peer up", func() bool { _, ok := r.up[id]; return ok })
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.up[id]
}

func (r *recorder) waitLine(t testing.TB, line string) {
	t.Helper()
	r.wait(t, line, func() bool { return strings.Contains(strings.Join(r.lines, "\n")+"\n", line+"\n") })
}

// told returns the lines so far.
func (r *recorder) told() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

func (r *recorder) count(prefix string) int {
	n := 0
	for _, l := range r.told() {
		if strings.HasPrefix(l, prefix) {
			n++
		}
	}
	return n
}

// node is a running host.
type node struct {
	*Host
	rec  *recorder
	stop func()
}

func testConfig() Config {
	cfg := Default()
	cfg.Listen = ListenOn("127.0.0.1", 0)
	// The machine of the tests is busy: nobody is down within 20 s. Tests of silence set their own.
	cfg.Heartbeat, cfg.Miss, cfg.Abandon = 200*time.Millisecond, 100, patient
	cfg.HelloTimeout = 20 * time.Second
	cfg.Redial = Backoff{Min: 20 * time.Millisecond, Max: 200 * time.Millisecond}
	return cfg
}

// start runs a host until the test ends or stop is called.
func start(t testing.TB, p *person, cfg Config, log *zap.Logger) *node {
	t.Helper()
	rec := newRecorder()
	h, err := New(cfg, Identity{Key: p.identity.Key, Certificate: p.identity.Certificate, Incarnation: 7}, p.registry, rec, log)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	var once sync.Once
	stop := func() {
		once.Do(func() {
			cancel()
			require.NoError(t, take(t, ended, "the end of Run"))
		})
	}
	t.Cleanup(stop)
	if cfg.Dial == DialBoth {
		require.Eventually(t, func() bool { return len(h.Addrs()) >= len(cfg.Listen) }, patient, time.Millisecond)
	}
	return &node{Host: h, rec: rec, stop: stop}
}

func quiet() *zap.Logger { return zap.NewNop() }

// at is where to dial n; kind "tcp", "quic" or "" for both.
func (n *node) at(t testing.TB, kind string) Target {
	t.Helper()
	target := Target{Peer: n.ID()}
	for _, a := range n.Addrs() {
		if strings.Contains(a.String(), kind) {
			one, err := ParseTarget(a.String())
			require.NoError(t, err)
			target.Addrs = append(target.Addrs, one.Addrs...)
		}
	}
	require.NotEmpty(t, target.Addrs)
	return target
}

// join dials b from a and waits until both are up.
func join(t testing.TB, a, b *node, kind string) {
	t.Helper()
	require.NoError(t, a.Dial(b.at(t, kind)))
	a.rec.waitUp(t, b.ID())
	b.rec.waitUp(t, a.ID())
}
