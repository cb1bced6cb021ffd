package fragment

import (
	"errors"
	"testing"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/storage"
	"fednode/sunion"
)

// TestLostOverRestarts shows that who asks for rows that an output has dropped is told after a restart, as before it, up to which
// stime they lay: of results beyond the boundary that is more than any frame that is left shows.
func TestLostOverRestarts(t *testing.T) {
	h := newHarness(t, 10)
	open := func() *Runner {
		r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: connect.SystemClock{},
			Log: zap.NewNop(), Readers: map[string][]string{"north/q/sums": {"sink"}}, Own: "north/"}))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	gone := func(r *Runner) tuple.Position {
		t.Helper()
		_, err := r.outputs[0].Open(flow.Subscriber{Name: "north/n2/other/f", From: tuple.Position{Generation: 1, Time: tuple.MinTime}, Counted: true})
		var e *dcaa.TruncatedError
		if !errors.As(err, &e) {
			t.Fatalf("%v, want that rows are gone", err)
		}
		return e.First
	}
	r := open()
	schema, numbers := testPlan(t).Outputs[0].Schema, sunion.NewSOutput(1)
	for _, at := range []tuple.Time{900, 100, 200, 300} {
		b := tuple.NewBatchBuilder(schema)
		for c := range schema.Len() {
			b.AppendNull(c)
		}
		b.EndRow(at)
		r.outputs[0].Append(numbers.Batch(b.Take()))
	}
	r.outputs[0].Ack("sink", tuple.Position{Generation: 1, ID: 2, Time: tuple.MinTime})
	want := tuple.Position{Generation: 1, ID: 2, Time: 901}
	if at := gone(r); at != want {
		t.Fatalf("gone up to %v, want %v", at, want)
	}
	save := func(p *storage.RecoveryPoint) {
		t.Helper()
		p.Outputs[0].NextID = numbers.State().Next
		if err := (Store{Points: h.points}).SavePoint(p); err != nil {
			t.Fatal(err)
		}
	}
	for life := range 2 { // nothing is forgotten in a life in which nothing is dropped
		save(r.snapshot().complete())
		if r = open(); gone(r) != want {
			t.Fatalf("gone up to %v after restart %d, want %v", gone(r), life, want)
		}
	}

	old := r.snapshot().complete()
	for k := range old.Operators {
		if o := &old.Operators[k]; o.Name == startsState {
			var e tuple.Encoder
			e.Uint(1)
			e.String("north/q/sums")
			e.Uint(1)
			e.Uint(2)
			o.Version, o.Snapshot = 1, e.B
		}
	}
	save(old)
	want.Time = tuple.MinTime
	if at := gone(open()); at != want {
		t.Fatalf("gone up to %v by a point of before there were stimes, want %v", at, want)
	}
}

// TestStartsInPoint shows that no cut of that part is taken for another one, and what is known of the rows before a start when more
// of them are not there any more.
func TestStartsInPoint(t *testing.T) {
	b := encodeStarts([]readers{{stream: "a", start: start{at: tuple.Position{Generation: 2, ID: 7}, lost: 40}}, {stream: "b", start: start{at: tuple.Position{Generation: 1}, lost: tuple.MinTime}}})
	p := &storage.RecoveryPoint{Operators: []storage.OperatorState{{Name: startsState, Version: startsVersion, Snapshot: b}}}
	got, err := startsOf(p)
	if err != nil || len(got) != 2 || got["a"].lost != 40 || got["a"].at.ID != 7 {
		t.Fatalf("%v, %v", got, err)
	}
	for n := range b {
		p.Operators[0].Snapshot = b[:n]
		if _, err := startsOf(p); !errors.Is(err, storage.ErrDamaged) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(b), err)
		}
	}
	away := func(id uint64, latest tuple.Time) dcaa.Held {
		return dcaa.Held{Frame: &tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: id, LastID: id}, Away: dcaa.Away{Record: 5, Time: tuple.MinTime, Latest: latest}}
	}
	if s := got["b"].past([]dcaa.Held{away(1, 60), away(2, 50)}); s.at.ID != 2 || s.lost != 61 {
		t.Errorf("%+v", s)
	}
	if s := (start{at: tuple.Position{Generation: 1, ID: 1}, lost: tuple.MinTime}).past([]dcaa.Held{away(2, 50)}); s.lost != tuple.MinTime {
		t.Errorf("%+v, where the first row is not known", s)
	}
}
