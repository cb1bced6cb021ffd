package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
)

const streamName = "north/q/o"

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

// world is a network of replicas that give one stream.
type world struct {
	mu    sync.Mutex
	nodes map[string]*node
	notes map[int]func(flow.News)
	next  int
}

// node is one replica. Its cursors break when it goes down, and when their number is up.
type node struct {
	name   string
	out    *flow.Output
	down   bool
	cut    chan struct{} // closed when it goes down
	opened int
	// answer replaces what the output gives, if it is not nil.
	answer func(opening int) (flow.Cursor, error)
}

var errCut = errors.New("connection cut")

func newWorld(names ...string) *world {
	w := &world{nodes: make(map[string]*node), notes: make(map[int]func(flow.News))}
	for _, name := range names {
		w.nodes[name] = &node{name: name, out: output(1 << 30), cut: make(chan struct{})}
	}
	return w
}

// output returns an output that may hold so many bytes.
func output(limit int64) *flow.Output {
	return flow.NewOutput(flow.OutputConfig{Name: streamName, Schema: schema, Limit: limit, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}})
}

func (w *world) OpenFrom(_ context.Context, producer, _ string, s flow.Subscriber) (flow.Cursor, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.nodes[producer]
	n.opened++
	switch {
	case n.down:
		return nil, errors.New(producer + " is down")
	case n.answer != nil:
		return n.answer(n.opened)
	}
	c, err := n.out.Open(s)
	if err != nil {
		return nil, err
	}
	return &cuttable{Cursor: c, cut: n.cut}, nil
}

func (w *world) Ack(_, subscriber string, producers []string, p tuple.Position) {
	for _, name := range producers {
		w.nodes[name].out.Ack(subscriber, p)
	}
}

func (w *world) Watch(_ []string, note func(flow.News)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := w.next
	w.next++
	w.notes[id] = note
	w.tell()
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.notes, id)
	}
}

// tell gives the news of all nodes to everybody. mu is held.
func (w *world) tell() {
	for _, name := range slices.Sorted(maps.Keys(w.nodes)) {
		n := w.nodes[name]
		for _, note := range w.notes {
			if n.down {
				note(flow.News{Name: name})
				continue
			}
			note(flow.News{Name: name, Up: true, Said: func(stream string) (dcaa.StreamStatus, bool) {
				return n.out.Beat(), stream == streamName
			}})
		}
	}
}

// beat sends a heartbeat of every node.
func (w *world) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell()
}

// beats sends heartbeats until ctx ends.
func (w *world) beats(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			w.beat()
		case <-ctx.Done():
			return
		}
	}
}

// fail takes a node down; mend brings it back.
func (w *world) fail(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.nodes[name]
	n.down = true
	close(n.cut)
	w.tell()
}

func (w *world) mend(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.nodes[name]
	n.down, n.cut = false, make(chan struct{})
	w.tell()
}

// upstream is the stream of all nodes.
func (w *world) upstream() Upstream {
	return Upstream{Stream: streamName, Producers: slices.Sorted(maps.Keys(w.nodes)), Self: "x/a", Settings: dcaa.DefaultSettings(), Network: w, Clock: connect.SystemClock{}}
}

// cuttable is a cursor whose node may fail.
type cuttable struct {
	flow.Cursor
	cut <-chan struct{}
}

func (c *cuttable) Next(ctx context.Context) (*tuple.Frame, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-c.cut:
			cancel()
		case <-ctx.Done():
		}
	}()
	select {
	case <-c.cut:
		return nil, errCut
	default:
	}
	f, err := c.Cursor.Next(ctx)
	if err != nil {
		return nil, errCut
	}
	return f, nil
}

// given is a cursor of some frames, which then breaks.
type given []*tuple.Frame

func (g *given) Next(context.Context) (*tuple.Frame, error) {
	if len(*g) == 0 {
		return nil, errCut
	}
	f := (*g)[0]
	*g = (*g)[1:]
	return f, nil
}

func (g *given) Close() {}

// rows are those of some stimes; each has its stime as its value.
func rows(stimes ...tuple.Time) *tuple.Batch {
	b := tuple.NewBatchBuilder(schema)
	for _, t := range stimes {
		b.AppendInt(0, int64(t))
		b.EndRow(t)
	}
	return b.Take()
}

// stable are rows with ids from first on, whose stimes are their ids.
func stable(first, n uint64) *tuple.Frame {
	var stimes []tuple.Time
	for i := range n {
		stimes = append(stimes, tuple.Time(first+i))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: rows(stimes...)}
}

func boundary(t tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: t}
}

// runOf is the first failure as a node sees it.
func runOf(name string) tuple.Run { return tuple.Run{Producer: name, Incarnation: 1, N: 1} }

func tentative(run tuple.Run, first uint64, stimes ...tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.Tentative, Run: run, FirstID: first, LastID: first + uint64(len(stimes)) - 1, Batch: rows(stimes...), Missing: []tuple.Missing{{Stream: "north/in"}}}
}

func tentativeBoundary(run tuple.Run, t tuple.Time) *tuple.Frame {
	return &tuple.Frame{Kind: tuple.TentativeBoundary, Run: run, Time: t}
}

// append adds frames at a node.
func (n *node) append(frames ...*tuple.Frame) {
	for _, f := range frames {
		n.out.Append(f)
	}
}

// state sets what the heartbeats of a node say.
func (n *node) state(s dcaa.State) {
	head := n.out.Head()
	n.out.SetStatus(dcaa.StreamStatus{State: s, Boundary: head.Time, Generation: head.Generation, LastID: head.ID})
}

// shown is an event on one line; a row is shown by its stime.
func shown(f *tuple.Frame) string {
	switch f.Kind {
	case tuple.Insertion:
		return fmt.Sprintf("stable %d: %s", f.FirstID, values(f.Batch))
	case tuple.Tentative:
		return "tentative: " + values(f.Batch)
	case tuple.Boundary:
		return "boundary " + timeText(f.Time)
	case tuple.TentativeBoundary:
		return "tentative boundary " + timeText(f.Time)
	case tuple.Undo:
		return "undo from " + timeText(f.Time)
	case tuple.RecDone:
		return "done before " + timeText(f.Time)
	}
	return f.String()
}

func timeText(t tuple.Time) string {
	if t == tuple.MinTime || t == tuple.MaxTime {
		return "all"
	}
	return fmt.Sprint(int64(t))
}

func values(b *tuple.Batch) string {
	var out []string
	for i := range b.Rows() {
		out = append(out, fmt.Sprint(b.Cols[0].Int[b.Row(i)]))
	}
	return strings.Join(out, " ")
}

// expect reads events and compares them.
func expect(t *testing.T, s *Subscription, want ...string) {
	t.Helper()
	for _, w := range want {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // virtual
		f, err := s.Next(ctx)
		cancel()
		if err != nil {
			t.Fatalf("%v instead of %q", err, w)
		}
		if got := shown(f); got != w {
			t.Fatalf("got %q, want %q", got, w)
		}
	}
}

// silent shows that nothing more comes within a while.
func silent(t *testing.T, s *Subscription) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second) // virtual
	defer cancel()
	if f, err := s.Next(ctx); err == nil {
		t.Fatalf("got %q, want nothing more", shown(f))
	}
}
