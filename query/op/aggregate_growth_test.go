package op_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"syscall"
	"testing"
	"time"

	"fednode/query/op"
	"fednode/query/tuple"
)

// With a hundred times the keys a row costs no more than the memory it misses: far less than twice as much each time the
// keys double. What counts is the processor time that this process got, which others on the machine do not change, but for
// the caches they share; so the least ratio of a few tries is taken.
func TestAggregateGrowth(t *testing.T) {
	const most, tries = 20, 5
	for _, decl := range [][]string{
		{`window = { tumbling = "10s" }`, `group_by = ["k"]`, `aggregates = { n = "count()", total = "sum(v)", d = "count_distinct(v)" }`},
		{`window = { session = "10s" }`, `group_by = ["k"]`, `aggregates = { n = "count()" }`},
	} {
		p := aggregatePlan(t, "k string, v int64", decl...)
		var few, many rowCost
		for range tries {
			few, many = costOfRow(t, p, 1_000), costOfRow(t, p, 100_000)
			if many.cpu <= most*few.cpu {
				break
			}
		}
		if many.cpu > most*few.cpu {
			t.Errorf("%v: %v a row with 1,000 keys, %v with 100,000", decl, few.cpu, many.cpu)
		}
		if many.allocated > few.allocated+256 {
			t.Errorf("%v: %d bytes allocated a row with 1,000 keys, %d with 100,000", decl, few.allocated, many.allocated)
		}
	}
}

// rowCost is what one row costs on average.
type rowCost struct {
	cpu       time.Duration
	allocated uint64 // bytes
}

// costOfRow measures a million rows of so many keys in random order.
func costOfRow(t *testing.T, p *op.Plan, keys int) rowCost {
	t.Helper()
	const batches, rows = 240, 4096
	var all []*tuple.Batch
	for n := range batches {
		all = append(all, growthBatch(t, n, rows, keys))
	}
	dict := tuple.NewDictBuilder()
	for i := range keys {
		dict.Intern(fmt.Appendf(nil, "key-%d", i))
	}
	for _, b := range all {
		b.Cols[0].Dict = dict.Dict()
	}
	o := p.New()
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := cpuTime(t)
	feedAll(t, o, all)
	spent := cpuTime(t) - start
	runtime.ReadMemStats(&after)
	return rowCost{cpu: spent / (batches * rows), allocated: (after.TotalAlloc - before.TotalAlloc) / (batches * rows)}
}

// growthBatch is the n-th batch, 40 µs from row to row; its dictionary is to be set.
func growthBatch(t *testing.T, n, rows, keys int) *tuple.Batch {
	rng := rand.New(rand.NewPCG(uint64(keys), uint64(n)))
	b := &tuple.Batch{Schema: p1Schema(t), Time: make([]tuple.Time, rows), Cols: []tuple.Column{
		{Type: tuple.Of(tuple.String), Code: make([]uint32, rows)},
		{Type: tuple.Of(tuple.Int64), Int: make([]int64, rows)},
	}}
	for i := range rows {
		b.Time[i] = tuple.Time(n*rows+i) * 40
		b.Cols[0].Code[i], b.Cols[1].Int[i] = uint32(rng.IntN(keys)), int64(rng.IntN(50))
	}
	return b
}

// cpuTime returns the processor time that the process has used.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
