package op_test

import (
	"testing"

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
