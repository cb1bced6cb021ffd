package fragment

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/replica"
	"fednode/query/tuple"
	"fednode/storage"
)

// BenchmarkTakeover measures what it takes to take over one of two lanes from another replica when both together hold 78 MB: what the
// run loop spends, what is done beside it (graft with what the loop spends), and how long the next life takes to begin.
func BenchmarkTakeover(b *testing.B) {
	h := newHarness(b, 10)
	db, err := storage.Open(b.TempDir(), storage.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	points, err := storage.NewRecoveryPoints(db)
	if err != nil {
		b.Fatal(err)
	}
	cfg := joined{h.net}.apply(Config{Name: "north/q/f", Subscriber: "north/r1/q/f", Plan: planOf(b, strings.ReplaceAll(lanesQuery, `"1s"`, `"24h"`)), Points: Store{Points: points}, Clock: connect.SystemClock{}, Log: zap.NewNop()})
	r, err := Open(cfg)
	if err != nil {
		b.Fatal(err)
	}
	for lane := range 2 {
		for key := 0; key < 350_000; {
			rows := tuple.NewBatchBuilder(cfg.Plan.Unions[lane].Schema)
			for range 4096 {
				rows.AppendInt(0, 1)
				rows.AppendBin(1, fmt.Appendf(nil, "key-%032d", key))
				rows.AppendInt(2, int64(key))
				rows.EndRow(1)
				key++
			}
			if err := r.core.Instance().Process(lane, rows.Take()); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Logf("state %d MB", r.core.Instance().StateBytes()>>20)
	step := func(name string, do func() error) {
		b.Run(name, func(b *testing.B) {
			began := processorTime()
			for b.Loop() {
				if err := do(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(processorTime()-began)/1e6/float64(b.N), "cpu-ms/op")
		})
	}
	var grafted *storage.RecoveryPoint
	theirs := r.snapshot().complete()
	x := takeover{theirs: theirs, take: replica.Take{true, false}}
	step("loop", func() error { x.begin(r); return nil })
	step("judge", func() error { return r.usable(theirs) })
	step("graft", func() (err error) { grafted, err = x.begin(r)(); return err })
	step("save", func() error { return cfg.Points.SavePoint(grafted) })
	step("open", func() error { _, err := Open(cfg); return err })
}
