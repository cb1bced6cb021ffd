package op_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// capture is an input whose windows all stay open: every minute has a few rows, and the keys of all minutes together are
// many.
type capture struct {
	first                    int // minute
	windows, perWindow, keys int
	shuffled                 bool // rows come in any order of time
}

const captureSchema = "k string, port int64, name string"

// batches are the rows, 500 a batch, over one dictionary that holds all keys from the first batch on. The keys of a minute
// lie anywhere among them.
func (c capture) batches(t testing.TB) []*tuple.Batch {
	t.Helper()
	s, err := optest.Schema(captureSchema)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(uint64(c.windows), uint64(c.keys)))
	dict := tuple.NewDictBuilder()
	for i := range c.keys {
		dict.Intern(fmt.Appendf(nil, "key-%d", i))
	}
	minutes := make([]int, c.windows*c.perWindow)
	for i := range minutes {
		minutes[i] = c.first + i/c.perWindow
	}
	if c.shuffled {
		rng.Shuffle(len(minutes), func(i, j int) { minutes[i], minutes[j] = minutes[j], minutes[i] })
	}
	var all []*tuple.Batch
	for len(minutes) > 0 {
		n := min(500, len(minutes))
		b := &tuple.Batch{Schema: s, Cols: make([]tuple.Column, 3)}
		for j, f := range s.Fields() {
			b.Cols[j].Reset(f.Type)
		}
		b.Cols[0].Dict, b.Cols[2].Dict = dict.Dict(), dict.Dict()
		for _, m := range minutes[:n] {
			b.Time = append(b.Time, tuple.Time(int64(m)*60*second))
			b.Cols[0].Code = append(b.Cols[0].Code, uint32(rng.IntN(c.keys)))
			b.Cols[1].Int = append(b.Cols[1].Int, int64(rng.IntN(1<<16)))
			b.Cols[2].Code = append(b.Cols[2].Code, uint32(rng.IntN(c.keys)))
		}
		all, minutes = append(all, b), minutes[n:]
	}
	return all
}

func (c capture) rows() int64 { return int64(c.windows * c.perWindow) }

// captureFunctions is one function of each way to keep state.
const captureFunctions = `aggregates = { n = "count()", total = "sum(port)", ports = "count_distinct(port)", names = "count_distinct(name)",
	low = "min(name)", top = "top_k(name, 2)", q = "quantile(port, 0.5)", a = "approx_count_distinct(name)", l = "last(name)" }`

func capturePlan(t testing.TB, window string) *op.Plan {
	t.Helper()
	return aggregatePlan(t, captureSchema, window, `group_by = ["k"]`, captureFunctions)
}

func feedAll(t testing.TB, o op.Operator, all []*tuple.Batch) {
	t.Helper()
	for _, b := range all {
		if err := o.Process(0, b, discard{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Many open windows take memory for the groups that have rows in them, however many groups all windows have together: a
// thousand windows of 20 groups among 20,000 would take 20 million accumulators of each function otherwise.
func TestAggregateOpenWindowsMemory(t *testing.T) {
	for _, window := range []string{`window = { tumbling = "1m" }`, `window = { sliding = "3m", every = "1m" }`} {
		for _, shuffled := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s shuffled=%v", window, shuffled), func(t *testing.T) {
				c := capture{windows: 1000, perWindow: 20, keys: 20_000, shuffled: shuffled}
				all := c.batches(t)
				before := heapBytes()
				o := capturePlan(t, window).New()
				feedAll(t, o, all)
				heap, state := heapBytes()-before, o.StateBytes()
				// Nine functions, several with a table of their own, take about 1 kB a group and 6 kB a window.
				const most = 60 << 20
				if heap > most || state > most {
					t.Errorf("%d rows of %d windows: %d bytes on the heap, %d of state; at most %d", c.rows(), c.windows, heap, state, most)
				}
				if state < heap/2 {
					t.Errorf("%d bytes on the heap, but only %d of state are told", heap, state)
				}
				f := o.Fork()
				if forked := heapBytes() - before - heap; forked > 2*heap {
					t.Errorf("a fork of %d bytes takes %d", heap, forked)
				}
				runtime.KeepAlive(o)
				runtime.KeepAlive(f)
			})
		}
	}
}

// With a hundred times the windows or the keys, a row takes no more memory, counted over the whole life of the windows up
// to their last result. Memory that is asked for is also time: what is cleared, copied and collected.
func TestAggregateOpenWindowsGrowth(t *testing.T) {
	for _, shuffled := range []bool{false, true} {
		few := allocatedPerRow(t, capture{windows: 40, perWindow: 10, keys: 400, shuffled: shuffled})
		for _, c := range []capture{
			{windows: 400, perWindow: 10, keys: 400}, {windows: 4000, perWindow: 10, keys: 400},
			{windows: 400, perWindow: 10, keys: 4000}, {windows: 400, perWindow: 10, keys: 40_000},
		} {
			c.shuffled = shuffled
			if many := allocatedPerRow(t, c); many > 2*few {
				t.Errorf("%+v: %d bytes a row; %d with few windows and few keys", c, many, few)
			}
		}
	}
}

// allocatedPerRow is what is allocated in all for one row of a capture.
func allocatedPerRow(t *testing.T, c capture) int64 {
	t.Helper()
	all, o := c.batches(t), capturePlan(t, `window = { tumbling = "1m" }`).New()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	feedAll(t, o, all)
	if _, err := o.Boundary(0, tuple.MaxTime, discard{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc-before.TotalAlloc) / c.rows()
}

// Windows that have few of the groups, come to have most of them, or have few again because others have brought more, have
// the results of windows that do not change their form at the same time: those of operators that are forked, or restored
// from a snapshot, after every batch.
func TestAggregateChangesForm(t *testing.T) {
	p := capturePlan(t, `window = { tumbling = "1m" }`)
	var all []*tuple.Batch
	for _, c := range []capture{
		{windows: 30, perWindow: 4, keys: 600},
		{first: 40, windows: 1, perWindow: 1500, keys: 600}, // from few to most
		{first: 41, windows: 9, perWindow: 4, keys: 600},    // expected to have most, but they stay with few
		{first: 50, windows: 2, perWindow: 2000, keys: 20_000},
		{first: 40, windows: 1, perWindow: 5, keys: 600}, // had most, which are few now
		{first: 60, windows: 8, perWindow: 300, keys: 50, shuffled: true},
		{first: 60, windows: 40, perWindow: 20, keys: 3000, shuffled: true},
	} {
		all = append(all, c.batches(t)...)
	}
	plain, forked, restored := p.New(), p.New(), p.New()
	for _, b := range all {
		for _, o := range []op.Operator{plain, forked} {
			feedAll(t, o, []*tuple.Batch{b})
		}
		forked = forked.Fork()
	}
	for _, b := range all {
		feedAll(t, restored, []*tuple.Batch{b})
		var e tuple.Encoder
		restored.Snapshot(&e)
		restored = p.New()
		d := tuple.NewDecoder(e.B)
		if restored.Restore(d); d.Err() != nil {
			t.Fatal(d.Err())
		}
	}
	want := results(t, plain)
	for name, o := range map[string]op.Operator{"forked": forked, "restored": restored} {
		if got := results(t, o); got != want {
			t.Errorf("%s: %d bytes of results, want %d", name, len(got), len(want))
		}
	}
}

// The limit of a collection names the group in a window whose cells are not numbered like the groups.
func TestAggregateOpenWindowsNameTheGroup(t *testing.T) {
	p := aggregatePlan(t, "k string, v int64", `window = { tumbling = "1s" }`, `group_by = ["k"]`, `aggregates = { all = "collect(v, 2)" }`)
	o := p.New()
	feedAll(t, o, []*tuple.Batch{freshKeys(tuple.NewBatchBuilder(p1Schema(t)), 0, 100)})
	b := tuple.NewBatchBuilder(p1Schema(t))
	for i, k := range []int{70, 3, 50, 3, 70, 3} {
		b.AppendBin(0, fmt.Appendf(nil, "key %d of window 0", k))
		b.AppendInt(1, int64(i))
		b.EndRow(tuple.Time(5 * second))
	}
	err := o.Process(0, b.Take(), discard{})
	if want := "collected values of group k=key 3 of window 0"; err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want a limit of %q", err, want)
	}
}

// results ends the stream and prints what the open windows yield.
func results(t *testing.T, o op.Operator) string {
	t.Helper()
	out := &keepRows{}
	if _, err := o.Boundary(0, tuple.MaxTime, out); err != nil {
		t.Fatal(err)
	}
	lines := out.lines()
	if len(lines) == 0 {
		t.Fatal("no results")
	}
	return strings.Join(lines, "\n")
}

// BenchmarkAggregateOpenWindows is the cost of a row where three days of minutes are open at once, from the first row to
// the last result.
func BenchmarkAggregateOpenWindows(b *testing.B) {
	for _, shuffled := range []bool{false, true} {
		c := capture{windows: 4320, perWindow: 25, keys: 10_000, shuffled: shuffled}
		b.Run(map[bool]string{false: "ordered", true: "shuffled"}[shuffled], func(b *testing.B) {
			all := c.batches(b)
			p := aggregatePlan(b, captureSchema, `window = { tumbling = "1m" }`, `group_by = ["k"]`,
				`aggregates = { n = "count()", total = "sum(port)", ports = "count_distinct(port)" }`)
			b.ReportAllocs()
			var held int64
			for b.Loop() {
				o := p.New()
				feedAll(b, o, all)
				held = o.StateBytes()
				if _, err := o.Boundary(0, tuple.MaxTime, discard{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(held)/float64(c.rows()), "held-B/row")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.rows()), "ns/row")
		})
	}
}
