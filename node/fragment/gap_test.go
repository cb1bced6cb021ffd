package fragment

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// withGaps copies a producer's frames into a new one, with a GAP behind every so many frames. The stretches of the gaps lie
// before all that was ever acknowledged.
func withGaps(from *flow.Output, every int) *flow.Output {
	start, frames := from.Unacknowledged()
	out := flow.NewOutput(flow.OutputConfig{Name: from.Name(), Schema: from.Schema(), Limit: 1 << 30, Generation: 1, Start: start, Expected: []string{"north/n1/q/sums"}})
	id := uint64(0)
	for n, f := range frames {
		out.Append(f)
		if f.Kind == tuple.Insertion {
			id = f.LastID
		}
		if n%every == every-1 {
			out.Append(&tuple.Frame{Kind: tuple.Gap, Generation: 1, FirstID: id, Time: tuple.Time(n) - 1, To: tuple.Time(n), Reason: "test"})
		}
	}
	return out
}

// TestGapsOverRestarts shows that a consumer hears of every gap of an input, however often the fragment crashes or stops,
// and gets the same results.
func TestGapsOverRestarts(t *testing.T) {
	const rows, every = 2000, 40
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 11))
			calm := newHarness(t, rows)
			calm.start()
			want := calm.collect(func(int) {})
			calm.stop()
			h := newHarness(t, rows)
			h.net.put(withGaps(h.net.find("north/a").(*flow.Output), every))
			_, frames := h.net.find("north/a").(*flow.Output).Unacknowledged()
			h.start()
			next := 1 + rnd.IntN(8)
			got := h.collect(func(n int) {
				if n < next {
					return
				}
				next = n + 1 + rnd.IntN(12)
				if rnd.IntN(2) == 0 {
					h.store.crash()
				}
				h.stop()
				h.start()
			})
			h.stop()
			if !slices.Equal(got, want) {
				t.Fatalf("%d results, want %d", len(got), len(want))
			}
			gaps := 0
			for _, f := range frames {
				if f.Kind != tuple.Gap {
					continue
				}
				gaps++
				if !slices.ContainsFunc(h.gaps, func(g *tuple.Frame) bool { return g.To == f.To }) {
					t.Errorf("the consumer never heard of %v", f)
				}
			}
			if gaps < 5 {
				t.Fatalf("only %d gaps were made", gaps)
			}
		})
	}
}

// TestGapInPoint shows that a recovery point holds gaps that nobody has acknowledged, each in its place among the rows, and
// that who has acknowledged the newest boundary still hears of one that came behind it.
func TestGapInPoint(t *testing.T) {
	h := newHarness(t, 10)
	open := func() *Runner {
		r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: connect.SystemClock{}, Log: zap.NewNop(), Readers: map[string][]string{"north/q/sums": {"sink"}}}))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := open()
	r.Emit(0, &tuple.Frame{Kind: tuple.Boundary, Generation: 1, Time: 5000})
	r.Emit(0, &tuple.Frame{Kind: tuple.Gap, Generation: 1, Time: 10, To: 20, Reason: "north/a: lost"})
	p := r.snapshot().complete()
	p.Boundary, p.Outputs[0].Boundary = 5000, 5000
	if err := (Store{Points: h.points}).SavePoint(p); err != nil {
		t.Fatal(err)
	}
	r = open()
	for name, from := range map[string]tuple.Time{"from the beginning": tuple.MinTime, "behind the boundary": 5000} {
		c, err := r.outputs[0].Open(flow.Subscriber{Name: "sink", From: tuple.Position{Time: from}})
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Next(t.Context())
		for err == nil && f.Kind == tuple.Boundary {
			f, err = c.Next(t.Context())
		}
		if err != nil || f.Kind != tuple.Gap || f.Time != 10 || f.To != 20 || f.Generation != 1 || f.Reason != "north/a: lost" {
			t.Errorf("%s: got %v %v, want the gap", name, f, err)
		}
	}
}
