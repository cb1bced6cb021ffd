package node

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/stretchr/testify/require"

	"fednode/dcaa"
	"fednode/node/api"
	"fednode/node/flow"
	"fednode/node/fragment"
	"fednode/node/p2p"
	"fednode/node/trust"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// replicated filters pushed rows at two workers, and again at the query's home.
const replicated = `
[query]
name = "rep"
max_delay = "3s"
[streams.in]
connector = "node"
stream = "north/tallies"
time = "arrival"
columns = { kind = "string", n = "int64" }
[operators.some]
kind = "filter"
input = "in"
where = "n > 0"
[operators.last]
kind = "filter"
input = "some"
where = "n > 1"
[outputs.out]
input = "last"
connector = "file"
path = %q
[fragments.many]
operators = ["some"]
replicas = 2
place = { labels = { role = "worker" } }
[fragments.end]
operators = ["last"]
place = { node = "north-1" }
`

const worker = "[node.labels]\nrole = \"worker\"\n"

// workers makes an organisation whose first node has the source and the sink, and two that run replicas.
func workers(t *testing.T) *fed { return workersWith(t, "") }

// workersWith is workers with more in each node.toml.
func workersWith(t *testing.T, more string) *fed {
	f := newFed(t, map[string]string{"north": tallies + more})
	f.enrol("north", "north-2", worker+more)
	f.enrol("north", "north-3", worker+more)
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	f.eventually(func() bool { return len(f.nodes["north"].node.members.Members()) == 2 }, "the labels of the others are known")
	return f
}

// deployReplicated deploys the query and waits until it runs everywhere.
func (f *fed) deployReplicated(out string) {
	f.t.Helper()
	d, err := f.nodes["north"].node.Deploy(f.t.Context(), "rep.toml", fmt.Appendf(nil, replicated, out), false)
	require.NoError(f.t, err)
	require.Len(f.t, d.Assignments, 3)
	for _, name := range []string{"north-2", "north-3"} {
		f.eventually(func() bool { return f.nodes[name].node.streams.Find(manyOut) != nil }, "the replica runs")
	}
}

const (
	manyOut = "north/rep.many.some" // between the fragments
	endOut  = "north/rep/out"
)

// follower keeps what a stream of one node has given.
type follower struct {
	mu        sync.Mutex
	stable    []string
	last      uint64
	came      []time.Time // of each stable row
	tentative int
	undone    bool
	fault     error
}

// follow reads a stream at the node that makes it, until the test or the stream ends.
func (m *party) follow(stream string) *follower {
	w := &follower{}
	ctx, cancel := context.WithCancel(context.Background())
	var reading sync.WaitGroup
	reading.Go(func() {
		for poll := time.NewTicker(time.Millisecond); ctx.Err() == nil; <-poll.C {
			st := m.node.streams.Find(stream)
			if st == nil {
				continue
			}
			w.mu.Lock()
			from := tuple.Position{Generation: 1, ID: w.last, Time: tuple.MinTime}
			w.mu.Unlock()
			c, err := st.Open(flow.Subscriber{Name: "north/test", From: from, Tentative: true, TentativeFrom: tuple.MinTime})
			if err != nil {
				continue
			}
			for err == nil {
				var fr *tuple.Frame
				if fr, err = c.Next(ctx); err == nil {
					w.take(fr)
				}
			}
			c.Close()
		}
	})
	m.t.Cleanup(func() { cancel(); reading.Wait() })
	return w
}

func (w *follower) take(f *tuple.Frame) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch f.Kind {
	case tuple.Insertion:
		if f.FirstID != w.last+1 && w.fault == nil {
			w.fault = fmt.Errorf("id %d after %d", f.FirstID, w.last)
		}
		for i := range f.Batch.Rows() {
			at, _ := f.Batch.Schema.Index("n")
			w.stable = append(w.stable, fmt.Sprintf("%d %s", f.FirstID+uint64(i), f.Batch.Cols[at].AppendText(nil, f.Batch.Row(i))))
			w.came = append(w.came, time.Now())
		}
		w.last = f.LastID
	case tuple.Tentative:
		w.tentative += f.Batch.Rows()
	case tuple.Undo, tuple.RecDone:
		w.undone = true
	case tuple.Gap:
		w.fault = errors.New("a gap: " + f.String())
	}
}

func (w *follower) count() (stable, tentative int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.stable), w.tentative
}

// numbered are the rows from a number on, in their order, with ids from 1.
func numbered(first, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf("%d %d", i+1, first+i))
	}
	return out
}

// rows returns what has come, after a look whether it came in order.
func (w *follower) rows(t *testing.T) []string {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	require.NoError(t, w.fault)
	return w.stable
}

// trickle pushes rows numbered from 1, some a second, until it is stopped, and returns how many there were.
func (m *party) trickle(stream string) (stop func() int) {
	done := make(chan struct{})
	total := make(chan int, 1)
	go func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		n := 0
		for {
			select {
			case <-done:
				total <- n
				return
			case <-tick.C:
				n++
				m.pushTallies(stream, "a", n, n)
			}
		}
	}()
	return func() int { close(done); return <-total }
}

// fragmentStatus is how a fragment of the query stands at a node.
func (m *party) fragmentStatus(id, name string) (s fragment.Status) {
	q := m.node.queries
	q.mu.Lock()
	d := q.running[id]
	q.mu.Unlock()
	if d == nil {
		return s
	}
	d.mu.Lock()
	sv := d.fragments[name]
	d.mu.Unlock()
	if sv == nil {
		return s
	}
	sv.mu.Lock()
	r := sv.runner
	sv.mu.Unlock()
	if r != nil {
		s = r.Status()
	}
	return s
}

// TestReplicasAgree shows that two replicas give the same stable stream, ids and rows, and the consumer behind them too.
func TestReplicasAgree(t *testing.T) {
	f := workers(t)
	out := filepath.Join(t.TempDir(), "out.csv")
	f.deployReplicated(out)
	north := f.nodes["north"]
	second, third := f.nodes["north-2"].follow(manyOut), f.nodes["north-3"].follow(manyOut)
	for i := range 20 {
		north.pushTallies("north/tallies", "a", 1+50*i, 50+50*i)
	}
	want := numbered(1, 1000)
	for _, w := range []*follower{second, third} {
		f.eventually(func() bool { n, _ := w.count(); return n >= len(want) }, "all rows come")
		require.Equal(t, want, w.rows(t))
	}
	f.eventually(func() bool { return len(lines(out)) >= 1000 }, "the sink has all")
	require.Len(t, lines(out), 1000, "a head and 999 rows")
}

// TestReplicaStops shows that a consumer goes on with the other replica when the one it reads from stops: no row is lost,
// repeated or tentative.
func TestReplicaStops(t *testing.T) {
	f := workers(t)
	out := filepath.Join(t.TempDir(), "out.csv")
	f.deployReplicated(out)
	north := f.nodes["north"]
	end := north.follow(endOut)
	stop := north.trickle("north/tallies")
	for round := range 2 {
		before, _ := end.count()
		f.eventually(func() bool { n, _ := end.count(); return n > before+50 }, "rows come")
		used := producerOf(f, north)
		began := time.Now()
		used.stop()
		end.mu.Lock()
		count := len(end.came)
		end.mu.Unlock()
		f.eventually(func() bool { n, _ := end.count(); return n > count+100 }, "rows go on")
		t.Logf("round %d: %s stopped in %v; the longest pause of results was %v", round, used.name, time.Since(began), longestPause(end, began))
		used.start()
		f.connect()
		f.eventually(func() bool { return used.node.streams.Find(manyOut) != nil }, "the replica is back")
	}
	total := stop()
	f.eventually(func() bool { n, _ := end.count(); return n >= total-1 }, "all rows come")
	require.Equal(t, numbered(2, total-1), end.rows(t))
	_, tentative := end.count()
	require.Zero(t, tentative)
	f.eventually(func() bool { return len(lines(out)) >= total }, "the sink has all")
	require.Len(t, lines(out), total)
}

// producerOf is the node that the last fragment reads from.
func producerOf(f *fed, north *party) (used *party) {
	f.eventually(func() bool {
		for _, in := range north.fragmentStatus("north/rep", "end").Inputs {
			_, name, _ := strings.Cut(in.Producer, "/")
			used = f.nodes[name]
		}
		return used != nil
	}, "the fragment reads from a replica")
	return used
}

// longestPause is the longest time between two rows that came after an instant.
func longestPause(w *follower, after time.Time) (most time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := 1; i < len(w.came); i++ {
		if w.came[i].After(after) {
			most = max(most, w.came[i].Sub(w.came[i-1]))
		}
	}
	return most
}

// TestSinkGoesOn shows that a sink which reads from one replica goes on with the other when it stops.
func TestSinkGoesOn(t *testing.T) {
	f := workers(t)
	out := filepath.Join(t.TempDir(), "out.csv")
	direct := strings.NewReplacer(`input = "last"`, `input = "some"`, "[operators.last]\nkind = \"filter\"\ninput = \"some\"\nwhere = \"n > 1\"\n", "",
		"[fragments.end]\noperators = [\"last\"]\nplace = { node = \"north-1\" }\n", "").Replace(fmt.Sprintf(replicated, out))
	north := f.nodes["north"]
	d, err := north.node.Deploy(t.Context(), "rep.toml", []byte(direct), false)
	require.NoError(t, err)
	require.Len(t, d.Assignments, 2)
	sink := func() (s api.SinkStatus) {
		if q, err := north.node.Backend(nil, func() []string { return nil }).Query("rep"); err == nil && len(q.Sinks) > 0 {
			s = q.Sinks[0]
		}
		return s
	}
	stop := north.trickle("north/tallies")
	f.eventually(func() bool { return sink().Rows > 50 }, "rows come")
	_, name, _ := strings.Cut(sink().Producer, "/")
	used := f.nodes[name]
	require.NotNil(t, used, "the sink says where it reads from")
	done := make(chan time.Duration, 1)
	resume := sink().Rows + 150
	go func() { done <- pauseOf(t.Context(), func() uint64 { return sink().Rows }, resume) }()
	used.stop()
	f.eventually(func() bool { return sink().Rows >= resume }, "rows go on")
	require.NotEqual(t, "north/"+name, sink().Producer)
	t.Logf("the longest pause of the sink was %v", <-done)
	total := stop()
	f.eventually(func() bool { return len(lines(out)) > total }, "the sink has all")
	want := []string{"kind,n"}
	for n := range total {
		want = append(want, fmt.Sprintf("a,%d", n+1))
	}
	require.Equal(t, want, lines(out))
	require.Zero(t, sink().Tentative)
}

// pauseOf watches a counter until it reaches a value, and returns the longest time in which it stood still.
func pauseOf(ctx context.Context, count func() uint64, until uint64) (most time.Duration) {
	last, at := count(), time.Now()
	for tick := time.NewTicker(2 * time.Millisecond); last < until && ctx.Err() == nil; <-tick.C {
		if now := count(); now != last {
			most = max(most, time.Since(at))
			last, at = now, time.Now()
		}
	}
	return most
}

// TestBothReplicasRestart shows that nothing is lost or repeated when all replicas are away at once.
func TestBothReplicasRestart(t *testing.T) {
	f := workers(t)
	f.deployReplicated(filepath.Join(t.TempDir(), "out.csv"))
	north := f.nodes["north"]
	end := north.follow(endOut)
	stop := north.trickle("north/tallies")
	f.eventually(func() bool { n, _ := end.count(); return n > 50 }, "rows come")
	both := []*party{f.nodes["north-2"], f.nodes["north-3"]}
	for _, m := range both {
		m.stop()
	}
	for _, m := range both {
		m.start()
	}
	f.connect()
	before, _ := end.count()
	f.eventually(func() bool { n, _ := end.count(); return n > before+50 }, "rows come again")
	total := stop()
	f.eventually(func() bool { n, _ := end.count(); return n >= total-1 }, "all rows come")
	require.Equal(t, numbered(2, total-1), end.rows(t))
}

// TestWhoIsTold shows that heartbeats tell hosts of a query how its streams fare, and nobody else.
func TestWhoIsTold(t *testing.T) {
	f := workers(t)
	f.deployReplicated(filepath.Join(t.TempDir(), "out.csv"))
	told := func(at, org, node string) []string {
		n := f.nodes[at].node
		var names []string
		for _, s := range n.link.Beat(p2p.Peer{ID: peer.ID(org + node), Member: trust.Member{Org: org, Node: node}}) {
			names = append(names, s.Name)
		}
		return names
	}
	require.Equal(t, []string{manyOut}, told("north-2", "north", "north-1"), "the consumer")
	require.Equal(t, []string{manyOut}, told("north-2", "north", "north-3"), "the other replica")
	require.Equal(t, []string{"north/tallies"}, told("north", "north", "north-3"), "a replica reads the source")
	require.Empty(t, told("north-2", "north", "north-4"), "a node that runs nothing of it")
	require.Empty(t, told("north-2", "south", "north-1"), "another organisation")
}

// TestPermissionOfStrangers shows that a message about permission counts only if its sender runs a replica of the fragment.
func TestPermissionOfStrangers(t *testing.T) {
	f := workers(t)
	f.deployReplicated(filepath.Join(t.TempDir(), "out.csv"))
	f.nodes["north"].pushTallies("north/tallies", "a", 1, 10)
	second := f.nodes["north-2"].node
	m := &wire.Permission{Fragment: "north/rep/many", Asker: "north/north-3", AskerIncarnation: 1, Number: 1, Missed: 10}
	taken := func(org, node, fragment string) bool {
		ask := *m
		ask.Fragment = fragment
		return second.queries.permission(p2p.Peer{Member: trust.Member{Org: org, Node: node}}, &ask)
	}
	require.True(t, taken("north", "north-3", "north/rep/many"))
	require.False(t, taken("north", "north-1", "north/rep/many"), "it runs another fragment")
	require.False(t, taken("south", "north-3", "north/rep/many"))
	require.False(t, taken("north", "north-3", "north/rep/end"))
	require.False(t, taken("north", "north-3", "north/other/many"))
	require.Equal(t, dcaa.Stable, f.stateOf("north-2", "north/rep", "many"))
}

// TestPermissionOfWhatDoesNotRun shows that a replica corrects its results although the fragment does not run at the other
// node, which is up: there it may have failed, or be stopped until a person deploys it again.
func TestPermissionOfWhatDoesNotRun(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies, "south": tallies + talliesExport})
	f.enrol("north", "north-2", worker)
	f.enrol("north", "north-3", worker)
	for _, m := range f.nodes {
		m.start()
	}
	f.connect()
	north, south := f.nodes["north"], f.nodes["south"]
	f.eventually(func() bool { return len(north.node.members.Members()) == 2 }, "the labels of the others are known")
	text := strings.Replace(bothSources, `place = { node = "north-1" }`, "replicas = 2\nplace = { labels = { role = \"worker\" } }", 1)
	_, err := north.node.Deploy(t.Context(), "both.toml", []byte(text), false)
	require.NoError(t, err)
	state := func() dcaa.State { return f.stateOf("north-2", "north/both", "main") }
	south.pushTallies("south/tallies", "b", 1_000_001, 1_000_010)
	stop := north.trickle("north/tallies")
	defer stop()
	failed := f.nodes["north-3"].node.queries
	running := func() *deployment {
		failed.mu.Lock()
		defer failed.mu.Unlock()
		return failed.running["north/both"]
	}
	f.eventually(func() bool { return running() != nil && state() == dcaa.Stable }, "both replicas run")
	failed.halt("north/both", running())

	south.stop()
	f.eventually(func() bool { return state() == dcaa.UpstreamFailure }, "an input is missing")
	south.start()
	f.connect()
	south.pushTallies("south/tallies", "b", 1_000_011, 1_000_020)
	f.eventually(func() bool { return state() == dcaa.Stable }, "it has corrected its results")
}

// stateOf waits until a fragment's first output has a state beyond its start.
func (f *fed) stateOf(at, id, name string) (s dcaa.State) {
	f.t.Helper()
	f.eventually(func() bool {
		for _, o := range f.nodes[at].fragmentStatus(id, name).Outputs {
			s = o.State
		}
		return s > dcaa.Starting
	}, "the fragment has begun")
	return s
}
