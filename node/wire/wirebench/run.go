package wirebench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"
)

// Options of Run; zero fields take their defaults.
type Options struct {
	Batches      int // of each round, default 256
	RowsPerBatch int // default 4096
	Rounds       int // default 9
}

// Result is one line of the report. The nanoseconds are processor time for encoding and decoding together, the system's
// share and garbage collection included; the rates are by the wall clock, and over a connection both ends run at once.
type Result struct {
	Name             string  `json:"name"`
	Records          int     `json:"records"` // of one round
	NsPerRecord      float64 `json:"ns_per_record"`
	PlainNsPerRecord float64 `json:"plain_ns_per_record"`
	Ratio            float64 `json:"ratio"` // plain / ours
	RecordsPerSec    float64 `json:"records_per_sec"`
	BytesPerRecord   float64 `json:"bytes_per_record"`
	MBPerSec         float64 `json:"mb_per_sec"` // on the pipe
}

// job is one way to move the records: ours and the plain one, each returning the bytes that went through.
type job struct {
	name  string
	ours  func(ctx context.Context, batches []*tuple.Batch) (int64, error)
	plain func(ctx context.Context, batches []*tuple.Batch) (int64, error)
}

// Run measures everything and returns the results in a fixed order. It takes some seconds.
func Run(ctx context.Context, opt Options) ([]Result, error) {
	if opt.Batches <= 0 {
		opt.Batches = 256
	}
	if opt.RowsPerBatch <= 0 {
		opt.RowsPerBatch = 4096
	}
	if opt.Rounds <= 0 {
		opt.Rounds = 9
	}
	batches := Connections(opt.Batches, opt.RowsPerBatch)
	var results []Result
	for _, j := range jobs() {
		r, err := measure(ctx, j, batches, opt.Rounds)
		if err != nil {
			return nil, fmt.Errorf("wirebench: %s: %w", j.name, err)
		}
		results = append(results, r)
	}
	return results, nil
}

func jobs() []job {
	var all []job
	for _, codec := range []stream.Codec{stream.None, stream.LZ4, stream.Zstd} {
		name := "in process"
		if codec != stream.None {
			name += ", " + codec.String()
		}
		all = append(all, job{name: name, ours: inProcess(codec), plain: plainInProcess})
	}
	return append(all, job{name: "loopback TCP", ours: overTCP, plain: plainOverTCP})
}

func measure(ctx context.Context, j job, batches []*tuple.Batch, rounds int) (Result, error) {
	records := 0
	for _, b := range batches {
		records += b.Rows()
	}
	var ours, plain, wall []time.Duration
	var size int64
	for range rounds {
		cpu, start := cpuTime(), time.Now()
		n, err := j.ours(ctx, batches)
		if err != nil {
			return Result{}, err
		}
		ours, wall, size = append(ours, cpuTime()-cpu), append(wall, time.Since(start)), n
		cpu = cpuTime()
		if _, err := j.plain(ctx, batches); err != nil {
			return Result{}, err
		}
		plain = append(plain, cpuTime()-cpu)
	}
	a, b, w := median(ours), median(plain), median(wall)
	return Result{
		Name: j.name, Records: records,
		NsPerRecord: float64(a.Nanoseconds()) / float64(records), PlainNsPerRecord: float64(b.Nanoseconds()) / float64(records),
		Ratio: float64(b) / float64(max(a, 1)), RecordsPerSec: float64(records) / w.Seconds(),
		BytesPerRecord: float64(size) / float64(records), MBPerSec: float64(size) / 1e6 / w.Seconds(),
	}, nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
