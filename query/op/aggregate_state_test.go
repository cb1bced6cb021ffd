package op_test

import (
	"errors"
	"fmt"
	"runtime"
	"testing"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

func aggregatePlan(t testing.TB, schema string, lines ...string) *op.Plan {
	t.Helper()
	s, err := optest.Schema(schema)
	if err != nil {
		t.Fatal(err)
	}
	p, err := optest.Build("aggregate", decl(lines...), []op.Input{{Name: "s", Schema: s}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// freshKeys makes a batch of n rows whose keys no earlier batch had, 1 ms apart.
func freshKeys(b *tuple.BatchBuilder, window, n int) *tuple.Batch {
	for i := range n {
		b.AppendBin(0, fmt.Appendf(nil, "key %d of window %d", i, window))
		b.AppendInt(1, int64(i*window))
		b.EndRow(tuple.Time(window)*tuple.Time(tuple.Second) + tuple.Time(i)*1000)
	}
	return b.Take()
}

// Over ten thousand windows of ever new keys the heap and the estimate of the state stay flat, for every kind of window.
func TestAggregateHeapFlat(t *testing.T) {
	const functions = `aggregates = { n = "count()", total = "sum(v)", ports = "count_distinct(v)", names = "count_distinct(k)", last = "last(k)", top = "top_k(v, 2)" }`
	for _, window := range []string{
		`window = { tumbling = "1s" }`, `window = { sliding = "5s", every = "1s" }`, `window = { session = "1500ms" }`, `window = { count = 2 }`,
	} {
		t.Run(window, func(t *testing.T) {
			p := aggregatePlan(t, "k string, v int64", window, `group_by = ["k"]`, `ttl = "3s"`, functions)
			o, out := p.New(), discard{}
			var heap, state int64
			for w := range 10_000 {
				b := freshKeys(tuple.NewBatchBuilder(p1Schema(t)), w, 20)
				if err := o.Process(0, b, out); err != nil {
					t.Fatal(err)
				}
				if _, err := o.Boundary(0, b.Time[0], out); err != nil {
					t.Fatal(err)
				}
				if w == 2_000 {
					heap, state = heapBytes(), o.StateBytes()
				}
			}
			if h, s := heapBytes(), o.StateBytes(); h > heap+heap/4+256<<10 || s > state+state/2+64<<10 {
				t.Fatalf("heap %d -> %d, state %d -> %d", heap, h, state, s)
			}
			runtime.KeepAlive(o)
		})
	}
}

func p1Schema(t testing.TB) *tuple.Schema {
	t.Helper()
	s, err := optest.Schema("k string, v int64")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func heapBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// Forks that are kept share what does not change: a hundred of them cost little more than one.
func TestAggregateForkIsCheap(t *testing.T) {
	p := aggregatePlan(t, "k string, v int64", `window = { tumbling = "1h" }`, `group_by = ["k"]`, `aggregates = { n = "count()", total = "sum(v)", d = "count_distinct(v)" }`)
	o, out := p.New(), discard{}
	if err := o.Process(0, freshKeys(tuple.NewBatchBuilder(p1Schema(t)), 1, 50_000), out); err != nil {
		t.Fatal(err)
	}
	before := heapBytes()
	var kept []op.Operator
	for range 100 {
		kept = append(kept, o.Fork())
	}
	if grown := heapBytes() - before; grown > o.StateBytes() {
		t.Fatalf("100 forks of %d bytes of state take %d", o.StateBytes(), grown)
	}
	runtime.KeepAlive(kept)
}

// A fragment's limits stop it with their name, however it reaches them.
func TestAggregateLimits(t *testing.T) {
	for _, window := range []string{`window = { tumbling = "1h" }`, `window = { session = "1h" }`, `window = { count = 9 }`} {
		p := aggregatePlan(t, "k string, v int64", window, `group_by = ["k"]`, `ttl = "1d"`, `aggregates = { n = "count()", d = "count_distinct(v)" }`)
		for _, c := range []struct {
			limits op.Limits
			what   string
		}{
			{op.Limits{Groups: 999}, "groups"},
			{op.Limits{StateBytes: 64 << 10}, "state bytes"},
		} {
			o := p.New()
			o.(op.Limited).SetLimits(c.limits)
			var err error
			for w := 0; w < 40 && err == nil; w++ {
				err = o.Process(0, freshKeys(tuple.NewBatchBuilder(p1Schema(t)), w, 100), discard{})
			}
			var limit *op.LimitError
			if !errors.As(err, &limit) || limit.What != c.what {
				t.Fatalf("%s %+v: %v", window, c.limits, err)
			}
		}
		o := p.New()
		o.(op.Limited).SetLimits(op.Limits{Groups: 1000, StateBytes: 64 << 20})
		if err := o.Process(0, freshKeys(tuple.NewBatchBuilder(p1Schema(t)), 0, 1000), discard{}); err != nil {
			t.Fatalf("%s: at the limit: %v", window, err)
		}
	}
}

// Results that were handed out do not change when the next window fires: a sink that clones sees what was sent.
func TestAggregateRowsImmutable(t *testing.T) {
	p := aggregatePlan(t, "k string, v int64", `window = { sliding = "10s", every = "5s" }`, `aggregates = { all = "collect(k, 10)" }`)
	o, out := p.New(), &keepRows{}
	b := tuple.NewBatchBuilder(p1Schema(t))
	for i, k := range []string{"a", "b"} {
		b.AppendBin(0, []byte(k))
		b.AppendInt(1, 0)
		b.EndRow(tuple.Time(1+5*i) * tuple.Time(tuple.Second))
	}
	if err := o.Process(0, b.Take(), out); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Boundary(0, tuple.MaxTime, out); err != nil {
		t.Fatal(err)
	}
	want := []string{`4.999999s: -5s 5s ["a"]`, `9.999999s: 0s 10s ["a","b"]`, `14.999999s: 5s 15s ["b"]`}
	if fmt.Sprint(out.lines()) != fmt.Sprint(want) {
		t.Fatalf("got %v", out.lines())
	}
}

type keepRows struct{ kept []*tuple.Batch }

func (k *keepRows) Batch(_ int, b *tuple.Batch) error {
	k.kept = append(k.kept, b.Clone())
	return nil
}

func (k *keepRows) lines() []string {
	var out []string
	for _, b := range k.kept {
		for i := range b.Rows() {
			out = append(out, string(optest.AppendRow(nil, b, i)))
		}
	}
	return out
}

// A batch of known keys costs no allocation, however many rows it has, whichever way its rows are selected.
func TestAggregateAllocatesNothing(t *testing.T) {
	for _, decl := range [][]string{
		{`window = { tumbling = "1h" }`, `aggregates = { n = "count()", total = "sum(v)", lo = "min(v)", d = "count_distinct(v)", dk = "count_distinct(k)" }`},
		{`window = { sliding = "2h", every = "1h" }`, `aggregates = { f = "first(k)", s = "stddev(v)", q = "quantile(v, 0.5)", t = "top_k(k, 2)", a = "approx_count_distinct(v)" }`},
		{`window = { session = "1h" }`, `aggregates = { n = "count(v)", a = "avg(v)" }`},
	} {
		o := aggregatePlan(t, "k string, v int64", append(decl, `group_by = ["k"]`)...).New()
		b := freshKeys(tuple.NewBatchBuilder(p1Schema(t)), 1, 3000)
		some := &tuple.Batch{Schema: b.Schema, Time: b.Time, Cols: b.Cols}
		for i := 0; i < len(b.Time); i += 2 {
			some.Sel = append(some.Sel, uint32(i))
		}
		process := func() {
			for _, x := range []*tuple.Batch{b, some} {
				if err := o.Process(0, x, discard{}); err != nil {
					t.Fatal(err)
				}
			}
		}
		process()
		if n := testing.AllocsPerRun(20, process); n > 2 {
			t.Errorf("%v: %v allocations for two batches", decl, n)
		}
	}
}
