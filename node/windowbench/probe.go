package windowbench

import (
	"context"
	"fmt"
	"time"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// Query returns a query file of a name, a word, that counts the rows of a stream in windows of a second. Its output is
// `out`.
func Query(name, stream string) []byte {
	return fmt.Appendf(nil, `
[query]
name = %q
max_delay = "inf"
[streams.ticks]
connector = "node"
stream = %q
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
`, name, stream)
}

// Schema is that of the stream: its time and a number.
func Schema() *tuple.Schema {
	return tuple.MustSchema(tuple.Field{Name: "ts", Type: tuple.Of(tuple.Timestamp)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
}

// Probe closes windows and takes the time until their results are there.
type Probe struct {
	source *ticks
	sink   *results
	end    tuple.Time // of the window before
}

// New returns a probe; its first window ends a second after the beginning of stream time that it chose.
func New() *Probe {
	return &Probe{source: &ticks{times: make(chan tuple.Time)}, sink: &results{came: make(chan time.Time, 16)}, end: 1_700_000_000 * tuple.Time(tuple.Second)}
}

// Source gives the rows of the stream. It can be opened once.
func (p *Probe) Source() connect.Source { return p.source }

// Sink takes the query's results.
func (p *Probe) Sink() connect.Sink { return p.sink }

// CloseWindow sends a row of the next window and the one with which it ends, and returns how long its result took from
// then. The closing row has the stime at which the window ends, which also ends a bucket and comes with its boundary, so
// that the time is the system's own: nothing is waited for. The first window also waits until everything has started.
// The error is ctx's.
func (p *Probe) CloseWindow(ctx context.Context) (time.Duration, error) {
	p.end = p.end.Add(tuple.Second)
	if err := p.source.push(ctx, p.end.Add(-tuple.Millisecond)); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := p.source.push(ctx, p.end); err != nil {
		return 0, err
	}
	select {
	case came := <-p.sink.came:
		return came.Sub(began), nil
	case <-ctx.Done():
		return 0, fmt.Errorf("no result of the window that ends at %v: %w", p.end, ctx.Err())
	}
}
