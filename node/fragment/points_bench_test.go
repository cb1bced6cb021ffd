package fragment

import (
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/query/tuple"
	"fednode/sunion"
)

// BenchmarkPoint measures a recovery point while a consumer is away and 32 MiB of results wait for it: what the run loop
// spends, and what is done beside it.
func BenchmarkPoint(b *testing.B) {
	h := newHarness(b, 10)
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(b), Points: Store{Points: h.points}, Clock: connect.SystemClock{},
		Log: zap.NewNop(), Readers: map[string][]string{"north/q/sums": {"sink"}}}))
	if err != nil {
		b.Fatal(err)
	}
	numbers, schema := sunion.NewSOutput(1), r.outputs[0].Schema()
	for held := int64(0); held < 32<<20; held, _ = r.outputs[0].Held() {
		rows := tuple.NewBatchBuilder(schema)
		for range 4096 {
			for c := range schema.Len() {
				rows.AppendNull(c)
			}
			rows.EndRow(1)
		}
		r.outputs[0].Append(numbers.Batch(rows.Take()))
	}
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			r.snapshot()
		}
	})
	b.Run("beside", func(b *testing.B) {
		d := r.snapshot()
		for b.Loop() {
			d.point.Outputs[0].Unacked = nil
			d.complete()
		}
	})
}
