package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"fednode/cmd/fednode/internal/enginebench"
	"fednode/cmd/fednode/internal/pipebench"
	"fednode/node/wire/wirebench"
	logbench "fednode/storage/bench"
)

// engineRow is a query with what it is measured against, and what it should come to.
type engineRow struct {
	name  string
	query string
	build enginebench.Build
	goal  goal
}

// engineRows are the queries beside their plain loops. Those without a goal show where the time of the others goes.
func engineRows() []engineRow {
	return []engineRow{
		{"Q1", "Q1", enginebench.Planned, atLeast(0.7, "gathering what passes, about every second row, for the product")},
		{"Q2", "Q2", enginebench.Planned, atLeast(0.5, "a pass over the times, and one random access a row to its group")},
		{"Q3", "Q3", enginebench.Planned, atLeast(0.5, "one random access a row to the set of its group")},
		{"Q4", "Q4", enginebench.Planned, atLeast(0.5, "Q2 and Q3; the join runs once a window")},
		{"Q2 beside a fork", "Q2", enginebench.Beside, atLeast(0.35, "copying each page of groups that changes after a fork")},
		{"Q1 operators alone", "Q1", enginebench.Operators, goal{}},
		{"Q2 operators alone", "Q2", enginebench.Operators, goal{}},
		{"Q3 operators alone", "Q3", enginebench.Operators, goal{}},
		{"Q4 operators alone", "Q4", enginebench.Operators, goal{}},
	}
}

func benchEngine(ctx context.Context, o benchOptions) ([]benchmark, error) {
	cfg := enginebench.Default()
	cfg.Records = o.records
	data := enginebench.Generate(cfg)
	byName := make(map[string]enginebench.Query)
	for _, q := range enginebench.Queries() {
		byName[q.Name] = q
	}
	var out []benchmark
	for _, row := range engineRows() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := enginebench.Run(byName[row.query], data, row.build, o.runs)
		if err != nil {
			return nil, err
		}
		out = append(out, engineBenchmark(row.name, r, row.goal))
	}
	split := data.Split()
	base, behind := enginebench.Side{Build: enginebench.Planned, Data: data}, enginebench.Side{Build: enginebench.Behind, Data: split}
	r, err := enginebench.Against(byName["Q2"], base, behind, o.runs)
	if err != nil {
		return nil, err
	}
	out = append(out, engineBenchmark("Q2 behind SUnion and SOutput, 4 inputs; plain is Q2 without", r, atLeast(0.85, "a look at the stime of each row")))
	if r, err = enginebench.Ordered(split, o.runs); err != nil {
		return nil, err
	}
	return append(out, engineBenchmark("SUnion ordered path, 4 inputs, 3 columns, 100 ms", r, atMost(10, "reading the columns from memory, then two merges of packed times"))), nil
}

func engineBenchmark(name string, r enginebench.Result, g goal) benchmark {
	return benchmark{Name: name, Records: r.Records, NsPerRecord: r.NsPerRecord, PlainNsPerRecord: r.PlainNsPerRecord, Ratio: r.Ratio,
		AllocsPerRecord: &r.AllocsPerRecord, Runs: r.Runs, goal: g}
}

func benchWire(ctx context.Context, o benchOptions) ([]benchmark, error) {
	opt := wirebench.Options{Rounds: o.runs}
	if o.quick {
		opt.Batches = 64
	}
	results, err := wirebench.Run(ctx, opt)
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, r := range results {
		out = append(out, benchmark{Name: r.Name, Records: r.Records, NsPerRecord: r.NsPerRecord, PlainNsPerRecord: r.PlainNsPerRecord, Ratio: r.Ratio,
			Runs: o.runs, RecordsPerSecond: r.RecordsPerSec, MBPerSecond: r.MBPerSec, BytesPerRecord: r.BytesPerRecord})
	}
	return out, nil
}

func benchLog(ctx context.Context, o benchOptions) ([]benchmark, error) {
	cfg := logbench.Config{Rounds: o.runs, Badger: !o.quick}
	if o.quick {
		cfg.Records = 16_384
	}
	results, err := logbench.Log(ctx, o.dir, cfg)
	if err != nil {
		return nil, err
	}
	var out []benchmark
	for _, r := range results {
		b := benchmark{Name: r.Name, Records: r.Records, NsPerRecord: r.NsPerRecord, PlainNsPerRecord: r.PlainNsPerRecord, Ratio: r.Ratio,
			Runs: r.Rounds, RecordsPerSecond: r.RecordsPerSecond, BytesPerRecord: float64(r.RecordBytes)}
		if r.Group > 1 && strings.HasPrefix(r.Name, "log_") {
			b.goal = atLeast(0.7, "the disk: each group is synced")
		}
		out = append(out, b)
	}
	return out, nil
}

// benchLatency measures how long the result of a window takes from the record that closes it.
func benchLatency(ctx context.Context, o benchOptions) (out []benchmark, err error) {
	windows := 200
	if o.quick {
		windows = 20
	}
	dir, err := os.MkdirTemp(o.dir, "bench-latency-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	l, err := pipebench.WindowClose(ctx, dir, windows)
	if err != nil {
		return nil, err
	}
	return []benchmark{{Name: "window close, source to sink on one node", Records: windows, Runs: 1, WindowCloseMs: float64(l.Median.Nanoseconds()) / 1e6,
		goal: goal{ms: 10, bound: "the synced write of the source's log"}}}, nil
}
