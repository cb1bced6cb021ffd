package client

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

const streamName = "north/q/o"

func insertion(first, n uint64) *tuple.Frame {
	b := tuple.NewBatchBuilder(schema)
	for i := range n {
		b.AppendInt(0, int64(first+i))
		b.EndRow(tuple.Time(first + i))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()}
}

// disk is what a sink has made durable, and what it has written beyond that.
type disk struct {
	mu       sync.Mutex
	durable  []int64
	written  []int64
	finished bool
	rand     *rand.Rand // fails some calls; nil fails none
}

// sink writes to a disk; each value is one entry, and its state is how many are durable.
type sink struct{ d *disk }

var errDisk = errors.New("the disk failed")

func (s sink) fails() bool { return s.d.rand != nil && s.d.rand.IntN(30) == 0 }

func (s sink) Recover(_ context.Context, state []byte) (tuple.Position, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if state == nil {
		s.d.durable, s.d.written = nil, nil
		return tuple.Position{}, nil
	}
	n := binary.LittleEndian.Uint64(state)
	s.d.durable = s.d.durable[:n]
	s.d.written = slices.Clone(s.d.durable)
	return tuple.Position{Generation: 1, ID: n, Time: tuple.Time(int64(binary.LittleEndian.Uint64(state[8:])))}, nil
}

func (s sink) Write(_ context.Context, r connect.SinkRows) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	for i := range r.Batch.Rows() {
		s.d.written = append(s.d.written, r.Batch.Cols[0].Int[r.Batch.Row(i)])
		if s.fails() {
			return errDisk
		}
	}
	return nil
}

func (s sink) Commit(_ context.Context, p tuple.Position) ([]byte, error) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	if s.fails() {
		return nil, errDisk
	}
	s.d.durable = slices.Clone(s.d.written)
	state := binary.LittleEndian.AppendUint64(nil, uint64(len(s.d.durable)))
	return binary.LittleEndian.AppendUint64(state, uint64(p.Time)), nil
}

func (s sink) Finish(context.Context) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.durable, s.d.finished = slices.Clone(s.d.written), true
	return nil
}

func (s sink) Close() error { return nil }

// positions keeps them in memory.
type positions struct {
	mu    sync.Mutex
	at    tuple.Position
	state []byte
	known bool
}

func (p *positions) LoadPosition(_, _ string) (tuple.Position, []byte, bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.at, p.state, p.known, nil
}

func (p *positions) SavePosition(_, _ string, at tuple.Position, state []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.state, p.known = at, state, true
	return nil
}

// here is a directory of one output.
type here struct{ out *flow.Output }

func (h here) Open(_ context.Context, _ string, s flow.Subscriber) (flow.Cursor, error) {
	return h.out.Open(s)
}
func (h here) Ack(_, who string, p tuple.Position) { h.out.Ack(who, p) }

func newOutput(rows uint64) *flow.Output {
	out := flow.NewOutput(flow.OutputConfig{Name: streamName, Schema: schema, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}})
	for id := uint64(1); id <= rows; id += 5 {
		out.Append(insertion(id, 5))
		out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.Time(id + 4)})
	}
	return out
}

// quick is a clock that waits a thousandth of the time.
type quick struct{ connect.SystemClock }

func (q quick) After(d time.Duration) <-chan time.Time { return time.After(d / 1000) }

// await looks again and again until a condition holds.
func await(t *testing.T, ok func() bool, what string) {
	t.Helper()
	const patient = time.Minute
	tick := time.NewTicker(50 * time.Microsecond)
	defer tick.Stop()
	for began := time.Now(); !ok(); <-tick.C {
		if time.Since(began) > patient {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// TestExactlyOnce shows that a sink which fails at any call, and a proxy that is stopped and started again, leave every
// row there once and in order.
func TestExactlyOnce(t *testing.T) {
	const rows = 300
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			out, d, pos := newOutput(rows), &disk{rand: rand.New(rand.NewPCG(seed, 4))}, &positions{}
			ended := false
			for !ended {
				p := New(Config{Stream: streamName, Name: "me", NewSink: func() connect.Sink { return sink{d} }, Directory: here{out}, Positions: pos,
					Clock: quick{}, Log: zap.NewNop(), CommitRows: 40})
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() { done <- p.Run(ctx) }()
				target := p.Status().Rows + uint64(20+rnd.IntN(60))
				await(t, func() bool { return p.Status().Rows >= target || p.Status().Committed.ID >= rows }, "more rows")
				if p.Status().Committed.ID >= rows {
					ended = true
					out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
					if err := <-done; err != nil {
						t.Fatal(err)
					}
					cancel()
					continue
				}
				cancel()
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			if len(d.durable) != rows {
				t.Fatalf("%d rows, want %d", len(d.durable), rows)
			}
			for i, v := range d.durable {
				if v != int64(i+1) {
					t.Fatalf("row %d is %d", i+1, v)
				}
			}
			if bytes, _ := out.Held(); bytes != 0 {
				t.Fatalf("%d bytes are not acknowledged", bytes)
			}
		})
	}
}

// TestBounded shows that a bounded result appears at the end as a whole, and that a proxy started again finds it done.
func TestBounded(t *testing.T) {
	out, d, pos := newOutput(50), &disk{}, &positions{}
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	for range 2 {
		p := New(Config{Stream: streamName, Name: "me", NewSink: func() connect.Sink { return sink{d} }, Bounded: true, Directory: here{out}, Positions: pos, Clock: quick{}, Log: zap.NewNop()})
		if err := p.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := p.Status(); !s.Done || s.At.Time != tuple.MaxTime {
			t.Fatalf("status %+v", s)
		}
	}
	if !d.finished || len(d.durable) != 50 {
		t.Fatalf("finished %v with %d rows", d.finished, len(d.durable))
	}
}
