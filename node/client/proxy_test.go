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
	"fednode/query/tuple"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	return tuple.Position{Generation: 1, ID: binary.LittleEndian.Uint64(state[8:]), Time: tuple.Time(int64(binary.LittleEndian.Uint64(state[16:])))}, nil
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
	state = binary.LittleEndian.AppendUint64(state, p.ID)
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

// Tentative rows, and what becomes of them, are entries below zero.
func (s sink) WriteTentative(_ context.Context, b *tuple.Batch) error {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	for i := range b.Rows() {
		s.d.written = append(s.d.written, -b.Cols[0].Int[b.Row(i)])
	}
	return nil
}

func (s sink) Undo(_ context.Context, t tuple.Time) error { return s.mark(undoMark, t) }
func (s sink) Done(_ context.Context, t tuple.Time) error { return s.mark(doneMark, t) }

// Entries for an UNDO and a REC_DONE; the stime is added.
const (
	undoMark int64 = -1_000_000
	doneMark int64 = -2_000_000
)

func (s sink) mark(what int64, t tuple.Time) error {
	if t != tuple.MinTime && t != tuple.MaxTime {
		what += int64(t)
	}
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.written = append(s.d.written, what)
	return nil
}

// produce appends rows to every replica, five at a time.
func produce(w *world, rows uint64) {
	for _, n := range w.nodes {
		for id := uint64(1); id <= rows; id += 5 {
			n.append(stable(id, 5), boundary(tuple.Time(id+5)))
		}
	}
}

func (w *world) proxy(d *disk, pos *positions, change func(*Config)) *Proxy {
	cfg := Config{Upstream: w.upstream(), Name: "me", NewSink: func() connect.Sink { return sink{d} }, Positions: pos, Log: zap.NewNop(), CommitRows: 40}
	if change != nil {
		change(&cfg)
	}
	return New(cfg)
}

// TestExactlyOnce shows that a sink which fails at any call, replicas that fail one after the other, and a proxy that is
// stopped and started again, leave every row there once and in order.
func TestExactlyOnce(t *testing.T) {
	const rows = 300
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *world, a, b *node) {
				rnd := rand.New(rand.NewPCG(seed, 3))
				d, pos := &disk{rand: rand.New(rand.NewPCG(seed, 4))}, &positions{}
				produce(w, rows)
				lives := 0
				for ended := false; !ended; lives++ {
					p := w.proxy(d, pos, nil)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rnd.IntN(2000))*time.Millisecond) // virtual
					done := make(chan error, 1)
					go func() { done <- p.Run(ctx) }()
					time.Sleep(time.Duration(rnd.IntN(300)) * time.Millisecond) // virtual
					failing := []string{"x/a", "x/b"}[lives%2]
					w.fail(failing)
					if err := <-done; err != nil {
						t.Fatal(err)
					}
					cancel()
					w.mend(failing)
					ended = p.Status().Committed.ID >= rows
				}
				for _, n := range []*node{a, b} {
					n.append(boundary(tuple.MaxTime))
				}
				if err := w.proxy(d, pos, nil).Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(d.durable) != rows {
					t.Fatalf("%d rows, want %d", len(d.durable), rows)
				}
				for i, v := range d.durable {
					if v != int64(i+1) {
						t.Fatalf("row %d is %d", i+1, v)
					}
				}
				for _, n := range []*node{a, b} {
					if bytes, _ := n.out.Held(); bytes != 0 {
						t.Fatalf("%d bytes are not acknowledged at %s", bytes, n.name)
					}
				}
			})
		})
	}
}

// TestBounded shows that a bounded result appears at the end as a whole, and that a proxy started again finds it done.
func TestBounded(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, b *node) {
		d, pos := &disk{}, &positions{}
		produce(w, 50)
		a.append(boundary(tuple.MaxTime))
		b.append(boundary(tuple.MaxTime))
		for range 2 {
			p := w.proxy(d, pos, func(c *Config) { c.Bounded = true })
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
	})
}

// TestTagged shows that a sink which marks tentative rows is given them and word of what became of them; that they are made
// durable although no stable row comes; and that after a restart those of the life before are void.
func TestTagged(t *testing.T) {
	inBubble(t, func(t *testing.T, w *world, a, _ *node) {
		w.fail("x/b")
		run := runOf("a")
		d, pos := &disk{}, &positions{}
		tagged := func(c *Config) { c.Tentative = true }
		life := func() *Proxy {
			p := w.proxy(d, pos, tagged)
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // virtual
			defer cancel()
			if err := p.Run(ctx); err != nil {
				t.Fatal(err)
			}
			return p
		}
		a.append(stable(1, 3), boundary(4), tentative(run, 1, 4, 6), tentativeBoundary(run, 7))
		p := life()
		if s := p.Status(); s.Tentative != 2 || s.Rows != 3 || s.Committed.ID != 3 {
			t.Fatalf("status %+v", s)
		}
		a.append(stable(4, 2), boundary(6))
		life()
		a.append(stable(6, 2), boundary(8))
		life()
		want := []int64{1, 2, 3, -4, -6, undoMark, -4, -6, 4, 5, doneMark + 6, undoMark, 6, 7}
		if !slices.Equal(d.durable, want) {
			t.Fatalf("got %v, want %v", d.durable, want)
		}
	})
}
