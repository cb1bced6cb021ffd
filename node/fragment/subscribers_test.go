package fragment

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"

	"fednode/dcaa"
	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
	"fednode/sunion"
)

// TestSubscribersOverRestarts shows that a reader which nobody expected, a fragment of another query, is waited for also
// after a crash, so that it meets no gap; but not once its query has been stopped.
func TestSubscribersOverRestarts(t *testing.T) {
	const limit = 4000
	h := newHarness(t, 10)
	open := func(counts func(stream, name string) bool) *Runner {
		r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: connect.SystemClock{},
			Log: zap.NewNop(), Readers: map[string][]string{"north/q/sums": {}}, Own: "north/", OutputBytes: limit, Counts: counts}))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	schema := testPlan(t).Outputs[0].Schema
	numbers := sunion.NewSOutput(1)
	fill := func(r *Runner, rows int) {
		for range rows {
			b := tuple.NewBatchBuilder(schema)
			for c := range schema.Len() {
				b.AppendNull(c)
			}
			b.EndRow(1)
			r.outputs[0].Append(numbers.Batch(b.Take()))
		}
	}
	r := open(nil)
	start := tuple.Position{Time: tuple.MinTime}
	if _, err := r.outputs[0].Open(flow.Subscriber{Name: "north/n1/second/f", From: start, Durable: start, Counted: true}); err != nil {
		t.Fatal(err)
	}
	fill(r, 3)
	had := tuple.Position{Generation: 1, ID: 2, Time: tuple.MinTime}
	r.outputs[0].Ack("north/n1/second/f", had)
	p := r.snapshot().complete()
	saved := numbers.State()
	p.Outputs[0].NextID = saved.Next
	if err := (Store{Points: h.points}).SavePoint(p); err != nil {
		t.Fatal(err)
	}

	r = open(func(_, name string) bool { return strings.Contains(name, "/second/") })
	if got := r.outputs[0].Subscribers()["north/n1/second/f"]; got.ID != 2 {
		t.Fatalf("%v is acknowledged after the restart, want id 2", got)
	}
	fill(r, 50)
	if full, _ := r.outputs[0].Full(); !full {
		t.Fatalf("the test fills too little for a limit of %d bytes", limit)
	}
	if _, err := r.outputs[0].Open(flow.Subscriber{Name: "north/n1/second/f", From: had, Durable: had, Counted: true}); err != nil {
		t.Fatalf("the reader meets a gap: %v", err)
	}

	numbers = sunion.RestoreSOutput(saved)
	r = open(func(string, string) bool { return false })
	fill(r, 50)
	_, err := r.outputs[0].Open(flow.Subscriber{Name: "north/n1/second/f", From: had})
	var gone *dcaa.TruncatedError
	if full, _ := r.outputs[0].Full(); full || !errors.As(err, &gone) {
		t.Fatalf("full %v, error %v: a subscriber of a stopped query is waited for", full, err)
	}
}
