package main

import (
	"fmt"
	"io"
)

// benchmark is one line of bench. Figures that a benchmark does not have are left out.
type benchmark struct {
	Name             string   `json:"name"`
	Records          int      `json:"records,omitempty"`
	NsPerRecord      float64  `json:"ns_per_record,omitempty"`
	PlainNsPerRecord float64  `json:"plain_ns_per_record,omitempty"`
	Ratio            float64  `json:"ratio,omitempty"`
	AllocsPerRecord  *float64 `json:"allocs_per_record,omitempty"`
	Runs             int      `json:"runs"`
	RecordsPerSecond float64  `json:"records_per_second,omitempty"`
	MBPerSecond      float64  `json:"mb_per_second,omitempty"`
	BytesPerRecord   float64  `json:"bytes_per_record,omitempty"`
	WindowCloseMs    float64  `json:"latency_window_close_ms,omitempty"`
	// Of a search for what restarts: how long it takes, and the time a vertex beside that of the smallest diagram; 1 is linear.
	RestartMs float64 `json:"restart_ms,omitempty"`
	Growth    float64 `json:"growth,omitempty"`
	// Of two daemons, the processor time of each.
	SourceNsPerRecord float64 `json:"source_ns_per_record,omitempty"`
	ClientNsPerRecord float64 `json:"client_ns_per_record,omitempty"`

	Failover *failoverFigures `json:"failover,omitempty"`

	goal goal
}

// goal is what a benchmark should come to: a least ratio, a most time a record, a most latency or a least rate; the zero
// value is none.
type goal struct {
	ratio float64
	ns    float64
	ms    float64
	rate  float64 // records/s
	// bound is what keeps the figure from being better.
	bound string
}

func atLeast(ratio float64, bound string) goal { return goal{ratio: ratio, bound: bound} }
func atMost(ns float64, bound string) goal     { return goal{ns: ns, bound: bound} }

// text prints the target, and ok whether it is met.
func (g goal) text(b *benchmark) (target string, ok bool) {
	switch {
	case g.ratio > 0:
		return fmt.Sprintf("ratio ≥ %.2f", g.ratio), b.Ratio >= g.ratio
	case g.ns > 0:
		return fmt.Sprintf("≤ %g ns", g.ns), b.NsPerRecord <= g.ns
	case g.ms > 0:
		return fmt.Sprintf("≤ %g ms", g.ms), max(b.WindowCloseMs, b.RestartMs) <= g.ms
	case g.rate > 0:
		return "≥ " + grouped(uint64(g.rate)) + "/s", b.RecordsPerSecond >= g.rate
	}
	return "", true
}

// printBenchmarks prints one part as a table.
func printBenchmarks(w io.Writer, part string, all []benchmark) {
	switch {
	case len(all) == 0:
		return
	case all[0].Failover != nil:
		printFailover(w, all)
		return
	}
	t := table{head: []string{part, "NS/RECORD", "PLAIN", "RATIO", "ALLOCS", "RECORDS/S", "TARGET", "", "BOUND BY"}}
	for i := range all {
		b := &all[i]
		row := plainCells(b.Name, figure("%.2f", b.NsPerRecord), figure("%.2f", b.PlainNsPerRecord), figure("%.2f", b.Ratio), "", "")
		if b.AllocsPerRecord != nil {
			row[4].text = fmt.Sprintf("%.4f", *b.AllocsPerRecord)
		}
		switch {
		case b.WindowCloseMs > 0:
			row[1].text = fmt.Sprintf("%.3f ms", b.WindowCloseMs)
		case b.RestartMs > 0:
			row[5].text = fmt.Sprintf("%.3f ms, growth %.2f", b.RestartMs, b.Growth)
		case b.RecordsPerSecond > 0:
			row[5].text = grouped(uint64(b.RecordsPerSecond))
		default:
			row[5].text = grouped(uint64(1e9 / b.NsPerRecord))
		}
		target, ok := b.goal.text(b)
		mark := cell{}
		if target != "" {
			mark = cell{"✓", toneGood}
			if !ok {
				mark = cell{"✗", toneBad}
			}
		}
		t.add(append(row, cell{target, toneDim}, mark, cell{b.goal.bound, toneDim})...)
	}
	t.print(w)
	fmt.Fprintln(w)
}

// figure prints a figure, nothing where there is none.
func figure(format string, v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf(format, v)
}
