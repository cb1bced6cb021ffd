package flow

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"fednode/query/tuple"
)

var schema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

func insertion(first, n uint64) *tuple.Frame {
	b := tuple.NewBatchBuilder(schema)
	for i := range n {
		b.AppendInt(0, int64(first+i))
		b.EndRow(tuple.Time(first + i))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: first, LastID: first + n - 1, Batch: b.Take()}
}

// flaky is a directory of one output whose cursors break by rule.
type flaky struct {
	out  *Output
	rand *rand.Rand
}

type flakyCursor struct {
	Cursor
	left int
}

var errCut = errors.New("connection cut")

func (c *flakyCursor) Next(ctx context.Context) (*tuple.Frame, error) {
	if c.left--; c.left < 0 {
		return nil, errCut
	}
	return c.Cursor.Next(ctx)
}

func (d *flaky) Open(_ context.Context, _ string, s Subscriber) (Cursor, error) {
	if d.rand.IntN(3) == 0 {
		return nil, errCut
	}
	s.From.ID -= min(s.From.ID, uint64(d.rand.IntN(3))) // a producer may send again what the consumer holds
	c, err := d.out.Open(Subscriber{Name: s.Name, From: s.From})
	return &flakyCursor{Cursor: c, left: d.rand.IntN(4)}, err
}

func (d *flaky) Ack(_, subscriber string, p tuple.Position) { d.out.Ack(subscriber, p) }

// TestInletSurvivesCuts shows that over connections that break again and again every id arrives once and in order.
func TestInletSurvivesCuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}})
		const rows = 300
		go func() {
			for id := uint64(1); id <= rows; id += 3 {
				out.Append(insertion(id, 3))
				out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.Time(id)})
				time.Sleep(10 * time.Millisecond) // virtual
			}
			out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
		}()
		in := NewInlet(&flaky{out: out, rand: rand.New(rand.NewPCG(1, 2))}, "a/q/o", Subscriber{Name: "me", From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
		next := uint64(1)
		for {
			f, err := in.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if f.Kind == tuple.Boundary && f.Time == tuple.MaxTime {
				break
			}
			if f.Kind != tuple.Insertion {
				continue
			}
			if f.FirstID != next || f.Batch.Cols[0].Int[0] != int64(next) {
				t.Fatalf("got %v, want id %d next", f, next)
			}
			next = f.LastID + 1
		}
		if next != rows+1 {
			t.Fatalf("received up to %d of %d", next-1, rows)
		}
	})
}

// TestGap shows that a subscriber whose place is gone is told what is missing and goes on behind it.
func TestGap(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"other"}})
	for id := uint64(1); id < 10; id += 3 {
		out.Append(insertion(id, 3))
	}
	out.Ack("other", tuple.Position{Generation: 1, ID: 6, Time: tuple.MinTime})
	in := NewInlet(direct{out}, "a/q/o", Subscriber{Name: "me", Counted: true, From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
	f, err := in.Next(t.Context())
	if err != nil || f.Kind != tuple.Gap || f.FirstID != 6 {
		t.Fatalf("got %v %v, want a gap up to id 6", f, err)
	}
	if f, err = in.Next(t.Context()); err != nil || f.FirstID != 7 {
		t.Fatalf("got %v %v, want id 7", f, err)
	}
}

type direct struct{ out *Output }

func (d direct) Open(_ context.Context, _ string, s Subscriber) (Cursor, error) { return d.out.Open(s) }
func (d direct) Ack(_, subscriber string, p tuple.Position)                     { d.out.Ack(subscriber, p) }

// TestFull shows that an output says when it is full and when room has been made, and that a closed one ends its
// readers.
func TestFull(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"me"}})
	if full, _ := out.Full(); full {
		t.Fatal("an empty output is full")
	}
	out.Append(insertion(1, 1))
	full, changed := out.Full()
	if !full {
		t.Fatal("an output over its limit is not full")
	}
	out.Ack("me", tuple.Position{Generation: 1, ID: 1, Time: 5})
	<-changed
	if full, _ = out.Full(); full {
		t.Fatal("still full after everything was acknowledged")
	}
	c, err := out.Open(Subscriber{Name: "tail", From: out.Head()})
	if err != nil {
		t.Fatal(err)
	}
	out.Close()
	if _, err := c.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Fatalf("got %v, want ErrClosed", err)
	}
}

// TestPartnerLapses shows that a subscriber of another organisation never fills an output: when it is full, the partner is
// no longer counted; our own subscribers are.
func TestPartnerLapses(t *testing.T) {
	var lapsed []string
	out := NewOutput(OutputConfig{Name: "north/q/o", Schema: schema, Limit: 4000, Generation: 1, Start: tuple.Position{Time: tuple.MinTime},
		Expected: []string{"north/n1/q/f", "south/s1/q/g"}, Own: "north/", Lapsed: func(who string) { lapsed = append(lapsed, who) }})
	for id := uint64(1); id < 100; id += 3 {
		out.Append(insertion(id, 3))
		out.Ack("north/n1/q/f", tuple.Position{Generation: 1, ID: id + 2, Time: tuple.MinTime})
	}
	if full, _ := out.Full(); full || len(lapsed) != 1 || lapsed[0] != "south/s1/q/g" {
		t.Fatalf("full %v, lapsed %v; want the partner alone to lapse", full, lapsed)
	}
	for id := uint64(100); id < 200; id += 3 { // nobody acknowledges any more
		out.Append(insertion(id, 3))
	}
	if full, _ := out.Full(); !full || len(lapsed) != 1 {
		t.Fatalf("full %v, lapsed %v; want our own subscriber to be waited for", full, lapsed)
	}
}

// TestLateTail shows that who counts for nothing is told of rows that are gone, rather than wait for them for ever, and
// still learns that the stream has ended.
func TestLateTail(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"sink"}})
	tail := func(from tuple.Position) *tuple.Frame {
		in := NewInlet(direct{out}, "a/q/o", Subscriber{Name: "tail", From: from}, func(context.Context, InletEvent) {})
		f, err := in.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	beginning := tuple.Position{Time: tuple.MinTime}
	out.Append(insertion(1, 3))
	out.Append(insertion(4, 3))
	out.Ack("sink", tuple.Position{Generation: 1, ID: 3, Time: tuple.MinTime})
	if f := tail(beginning); f.Kind != tuple.Gap || f.FirstID != 3 {
		t.Fatalf("got %v, want a gap up to id 3", f)
	}
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	out.Ack("sink", tuple.Position{Generation: 1, ID: 6, Time: tuple.MaxTime})
	if f := tail(beginning); f.Kind != tuple.Gap || f.FirstID != 6 || f.To != tuple.MaxTime {
		t.Fatalf("got %v, want a gap up to id 6 and the end", f)
	}
	if f := tail(tuple.Position{Generation: 1, ID: 6, Time: tuple.MinTime}); f.Kind != tuple.Boundary || f.Time != tuple.MaxTime {
		t.Fatalf("got %v, want the end", f)
	}
}

// TestSlowTail shows that a tail that is overtaken by acknowledgements hears of the gap as soon as it reads on.
func TestSlowTail(t *testing.T) {
	out := NewOutput(OutputConfig{Name: "a/q/o", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}, Expected: []string{"sink"}})
	in := NewInlet(direct{out}, "a/q/o", Subscriber{Name: "tail", From: tuple.Position{Time: tuple.MinTime}}, func(context.Context, InletEvent) {})
	next := func() *tuple.Frame {
		f, err := in.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	out.Append(insertion(1, 3))
	next()
	for id := uint64(4); id < 20; id += 3 {
		out.Append(insertion(id, 3))
	}
	out.Ack("sink", tuple.Position{Generation: 1, ID: 9, Time: tuple.MinTime})
	if f := next(); f.Kind != tuple.Gap || f.FirstID != 9 {
		t.Fatalf("got %v, want a gap up to id 9", f)
	}
	if f := next(); f.FirstID != 10 {
		t.Fatalf("got %v, want id 10", f)
	}
	out.Append(&tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: tuple.MaxTime})
	out.Ack("sink", tuple.Position{Generation: 1, ID: 21, Time: tuple.MaxTime})
	if f := next(); f.Kind != tuple.Gap || f.FirstID != 21 || f.To != tuple.MaxTime {
		t.Fatalf("got %v, want a gap up to the end", f)
	}
}
