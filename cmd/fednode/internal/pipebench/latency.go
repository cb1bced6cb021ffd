package pipebench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fednode/query/tuple"
)

// Latency is how long results took from the record that closes their window to the sink.
type Latency struct {
	Windows int
	Median  time.Duration
	Worst   time.Duration
}

// query counts rows in windows of a second.
const query = `
[query]
name = "bench"
max_delay = "inf"
[streams.ticks]
connector = "node"
stream = "bench/ticks"
time = "ts"
columns = { ts = "timestamp", n = "int64" }
[operators.per_second]
kind = "aggregate"
input = "ticks"
window = { tumbling = "1s" }
aggregates = { n = "count()" }
[outputs.out]
connector = "node"
input = "per_second"
`

// resultWithin is how long a result may take before the measurement gives up.
const resultWithin = 10 * time.Second

// WindowClose measures so many windows, 1 or more; the log and state lie below dir, which is the caller's to remove. The
// closing record has the stime at which its window ends, which also ends a bucket and comes with its boundary, so that
// the time is the node's own: nothing is waited for.
func WindowClose(ctx context.Context, dir string, windows int) (Latency, error) {
	p, err := open(dir)
	if err != nil {
		return Latency{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := p.run(ctx)
	took, err := p.windows(ctx, windows)
	cancel()
	if err = errors.Join(err, ended()); err != nil {
		return Latency{}, fmt.Errorf("pipebench: %w", err)
	}
	slices.Sort(took)
	return Latency{Windows: windows, Median: took[len(took)/2], Worst: took[len(took)-1]}, nil
}

// windows closes one window after another and returns how long each result took. One more goes before them: it waits
// until everything has started.
func (p *pipe) windows(ctx context.Context, n int) ([]time.Duration, error) {
	start := tuple.Time(1_700_000_000 * tuple.Second)
	var took []time.Duration
	for window := range n + 1 {
		end := start.Add(int64(window+1) * tuple.Second)
		if err := p.ticks.push(ctx, end.Add(-tuple.Millisecond)); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := p.ticks.push(ctx, end); err != nil {
			return nil, err
		}
		select {
		case at := <-p.results.came:
			if window > 0 {
				took = append(took, at.Sub(began))
			}
		case <-time.After(resultWithin):
			return nil, fmt.Errorf("no result of window %d within %s", window, resultWithin)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return took, nil
}
