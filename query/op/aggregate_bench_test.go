package op_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"fednode/query/op"
	"fednode/query/tuple"
)

// BenchmarkAggregate is the cost of a row in the forms that the operator meets: rows of one window or of many, keys by
// code or hashed, alone or beside a fork.
func BenchmarkAggregate(b *testing.B) {
	const volume, ports = `aggregates = { n = "count()", total = "sum(bytes)" }`, `aggregates = { ports = "count_distinct(dport)" }`
	for _, c := range []struct {
		name string
		decl []string
		fork bool
	}{
		{name: "sum", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src"]`, volume}},
		{name: "sum-forked", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src"]`, volume}, fork: true},
		{name: "distinct", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src"]`, ports}},
		{name: "two-keys", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src", "dport"]`, volume}},
		{name: "int-key", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["dport"]`, volume}},
		{name: "sliding", decl: []string{`window = { sliding = "10s", every = "1s" }`, `group_by = ["src"]`, volume}},
		{name: "session", decl: []string{`window = { session = "100ms" }`, `group_by = ["src"]`, volume}},
		{name: "count", decl: []string{`window = { count = 100 }`, `group_by = ["src"]`, volume, `ttl = "1h"`}},
		{name: "stddev", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src"]`, `aggregates = { s = "stddev(bytes)", a = "avg(bytes)" }`}},
		{name: "sketches", decl: []string{`window = { tumbling = "1s" }`, `group_by = ["src"]`, `aggregates = { p = "approx_count_distinct(dst)", q = "quantile(bytes, 0.9)" }`}},
	} {
		b.Run(c.name, func(b *testing.B) {
			_, batches := benchConns(b, 16)
			p := aggregatePlan(b, "src ip, dst ip, dport int64, bytes int64", c.decl...)
			o, at, n := p.New(), tuple.Time(0), 0
			b.ReportAllocs()
			for b.Loop() {
				if c.fork && n%100 == 0 {
					o = o.Fork()
				}
				at = feedShifted(b, o, batches[n%len(batches)], at)
				n++
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRows, "ns/row")
		})
	}
}

// feedShifted gives a batch whose stimes go on from at, and a boundary after it.
func feedShifted(t testing.TB, o op.Operator, rows *tuple.Batch, at tuple.Time) tuple.Time {
	t.Helper()
	shift := at - rows.Time[0]
	for i := range rows.Time {
		rows.Time[i] += shift
	}
	if err := o.Process(0, rows, discard{}); err != nil {
		t.Fatal(err)
	}
	at = rows.Time[len(rows.Time)-1]
	if _, err := o.Boundary(0, at, discard{}); err != nil {
		t.Fatal(err)
	}
	return at
}

// With a hundred times the keys a row costs no more than the memory it misses: far less than twice as much each time the
// keys double.
func TestAggregateGrowth(t *testing.T) {
	for _, decl := range [][]string{
		{`window = { tumbling = "10s" }`, `group_by = ["k"]`, `aggregates = { n = "count()", total = "sum(v)", d = "count_distinct(v)" }`},
		{`window = { session = "10s" }`, `group_by = ["k"]`, `aggregates = { n = "count()" }`},
	} {
		p := aggregatePlan(t, "k string, v int64", decl...)
		few := timePerRow(t, p, 1_000)
		many := timePerRow(t, p, 100_000)
		if ratio := float64(many) / float64(few); ratio > 20 {
			t.Errorf("%v: %v a row with 1,000 keys, %v with 100,000", decl, few, many)
		}
	}
}

// timePerRow is the least of three runs over half a million rows of so many keys, after as many that number the keys.
func timePerRow(t *testing.T, p *op.Plan, keys int) time.Duration {
	t.Helper()
	const batches, rows = 240, 4096
	rng := rand.New(rand.NewPCG(uint64(keys), 1))
	dict := tuple.NewDictBuilder()
	for i := range keys {
		dict.Intern(fmt.Appendf(nil, "key-%d", i))
	}
	b := &tuple.Batch{Schema: p1Schema(t), Time: make([]tuple.Time, rows), Cols: []tuple.Column{
		{Type: tuple.Of(tuple.String), Code: make([]uint32, rows), Dict: dict.Dict()},
		{Type: tuple.Of(tuple.Int64), Int: make([]int64, rows)},
	}}
	best := time.Duration(1 << 62)
	for range 3 {
		o := p.New()
		var spent time.Duration
		for n := range batches {
			for i := range rows {
				b.Time[i] = tuple.Time(n*rows+i) * 40
				b.Cols[0].Code[i], b.Cols[1].Int[i] = uint32(rng.IntN(keys)), int64(rng.IntN(50))
			}
			start := time.Now()
			if err := o.Process(0, b, discard{}); err != nil {
				t.Fatal(err)
			}
			if n >= batches/2 {
				spent += time.Since(start)
			}
		}
		best = min(best, spent/(batches/2*rows))
	}
	return best
}

// The two sides of a fork may run in two goroutines.
func TestAggregateForksRunApart(t *testing.T) {
	p := aggregatePlan(t, "k string, v int64", `window = { sliding = "4s", every = "2s" }`, `group_by = ["k"]`,
		`aggregates = { n = "count()", d = "count_distinct(v)", e = "count_distinct(k)", a = "approx_count_distinct(v)", t = "top_k(k, 3)", l = "last(k)" }`)
	feed := func(o op.Operator, from, to int) error {
		for w := from; w < to; w++ {
			if err := o.Process(0, freshKeys(tuple.NewBatchBuilder(p1Schema(t)), w/3, 700), discard{}); err != nil {
				return err
			}
		}
		_, err := o.Boundary(0, tuple.MaxTime, discard{})
		return err
	}
	o := p.New()
	for w := range 5 {
		if err := o.Process(0, freshKeys(tuple.NewBatchBuilder(p1Schema(t)), w/3, 700), discard{}); err != nil {
			t.Fatal(err)
		}
	}
	done := make(chan error, 3)
	for _, side := range []op.Operator{o.Fork(), o.Fork(), o} {
		go func() { done <- feed(side, 5, 12) }()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
