package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"fednode/cmd/fednode/internal/failbench"
)

// failoverFigures are those of one benchmark of failover, in milliseconds.
type failoverFigures struct {
	MedianMs float64 `json:"median_ms"`
	WorstMs  float64 `json:"worst_ms"`
	// TargetMs is the most that the worst should be; 0 where only tentative rows count.
	TargetMs float64 `json:"target_ms,omitempty"`
	// Tentative rows that a client got in all runs; none is the target of each.
	Tentative int `json:"tentative_rows"`
}

// calmFor is how long the federation is watched without a failure, in all.
const calmFor = 20 * time.Second

// benchFailover measures what failures cost on real daemons.
func benchFailover(ctx context.Context, o benchOptions) ([]benchmark, error) {
	list, err := failbench.Run(ctx, failbench.Options{Dir: o.dir, Runs: o.runs, Calm: calmFor, Say: o.say})
	var out []benchmark
	for i := range list {
		m := &list[i]
		out = append(out, benchmark{Name: m.Name, Runs: len(m.Values), goal: goal{bound: m.Bound}, Failover: &failoverFigures{
			MedianMs: milliseconds(m.Median()), WorstMs: milliseconds(m.Worst()), TargetMs: milliseconds(m.Target), Tentative: m.Tentative,
		}})
	}
	return out, err
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// met reports whether the worst run is within the target, and no row was tentative.
func (f *failoverFigures) met() bool {
	return f.Tentative == 0 && (f.TargetMs == 0 || f.WorstMs <= f.TargetMs)
}

// target prints what is asked for.
func (f *failoverFigures) target() string {
	if f.TargetMs == 0 {
		return "0 tentative"
	}
	return fmt.Sprintf("≤ %.0f ms, 0 tentative", f.TargetMs)
}

// printFailover prints the benchmarks of failover, which have times and no records, as a table of their own.
func printFailover(w io.Writer, all []benchmark) {
	t := table{head: []string{"failover", "MEDIAN", "WORST", "TENTATIVE", "RUNS", "TARGET", "", "BOUND BY"}}
	for i := range all {
		b := &all[i]
		f := b.Failover
		mark := cell{"✓", toneGood}
		if !f.met() {
			mark = cell{"✗", toneBad}
		}
		t.add(cell{text: b.Name}, cell{text: fmt.Sprintf("%.0f ms", f.MedianMs)}, cell{text: fmt.Sprintf("%.0f ms", f.WorstMs)}, cell{text: fmt.Sprint(f.Tentative)},
			cell{text: fmt.Sprint(b.Runs)}, cell{f.target(), toneDim}, mark, cell{b.goal.bound, toneDim})
	}
	t.alignRight(1, 2, 3, 4)
	t.print(w)
	fmt.Fprintln(w)
}
