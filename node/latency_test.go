package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// pushed is a connector kind whose source gives what the test sends, and whose sink tells when each row came.
type pushed struct {
	schema *tuple.Schema
	send   chan []tuple.Time
	came   chan time.Time
}

func newPushed() *pushed {
	return &pushed{send: make(chan []tuple.Time), came: make(chan time.Time, 1024),
		schema: tuple.MustSchema(tuple.Field{Name: "ts", Type: tuple.Of(tuple.Timestamp)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})}
}

func (p *pushed) kind() connect.Kind {
	return connect.Kind{Name: "pushed", Source: func(*spec.Reader, *connect.Stream) *connect.SourcePlan {
		return &connect.SourcePlan{Detail: "pushed", New: func(connect.Env) connect.Source { return p }}
	}}
}

// Open begins anew: the test never restarts the source.
func (p *pushed) Open(context.Context, []byte) (connect.Reader, error) { return p, nil }

// Next returns one row for each time that was sent.
func (p *pushed) Next(ctx context.Context) (*connect.Block, error) {
	select {
	case times := <-p.send:
		b := tuple.NewBatchBuilder(p.schema)
		for _, t := range times {
			b.AppendInt(0, int64(t))
			b.AppendInt(1, 1)
			b.EndRow(t)
		}
		return &connect.Block{Batch: b.Take(), Status: connect.Status{State: connect.Idle}}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Recover begins at nothing.
func (p *pushed) Recover(context.Context, []byte) (tuple.Position, error) {
	return tuple.Position{}, nil
}

// Write tells the time for every row.
func (p *pushed) Write(_ context.Context, rows connect.SinkRows) error {
	now := time.Now()
	for range rows.Batch.Rows() {
		p.came <- now
	}
	return nil
}

func (*pushed) Commit(context.Context, tuple.Position) ([]byte, error) { return []byte{}, nil }
func (*pushed) Finish(context.Context) error                           { return nil }
func (*pushed) Close() error                                           { return nil }

const countQuery = `
[query]
name = "count"
max_delay = "inf"
[streams.ticks]
connector = "node"
stream = "north/ticks"
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

// latencyLimit is how long the result of a window may take from the record that closes it, which here ends a bucket and
// brings its boundary along.
const latencyLimit = 10 * time.Millisecond

// TestWindowCloseLatency: the record that ends a window goes through the source's durable log, a fragment and a client
// proxy; the window's result comes out in time. A machine may do other things at any moment: the quickest quarter of some
// windows counts, and it may take a while until there is a calm stretch.
func TestWindowCloseLatency(t *testing.T) {
	p := newPushed()
	north := benchNode(t, p.kind(), "north", "[streams.ticks]\nconnector = \"pushed\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\", n = \"int64\" }\n")
	north.run(t)
	_, err := north.node.Deploy(t.Context(), "count.toml", []byte(countQuery), false)
	require.NoError(t, err)
	north.consume(t, p, "north/count/out")

	at := tuple.Time(1_700_000_000 * tuple.Second)
	p.send <- []tuple.Time{at}
	p.closeWindow(t, &at) // the first waits for the query to start
	quick := latencyLimit
	for began := time.Now(); quick >= latencyLimit && time.Since(began) < patient; {
		took := make([]time.Duration, 40)
		for i := range took {
			took[i] = p.closeWindow(t, &at)
		}
		slices.Sort(took)
		quick = took[len(took)/4]
		t.Logf("quartile %v, median %v, worst %v", quick, took[len(took)/2], took[len(took)-1])
	}
	require.Less(t, quick, latencyLimit)
}

// closeWindow sends a row of the window that begins at a time and the one that ends it, and returns when the result came.
// It moves the time on to the next window.
func (p *pushed) closeWindow(t *testing.T, at *tuple.Time) time.Duration {
	t.Helper()
	*at = at.Add(tuple.Second)
	p.send <- []tuple.Time{at.Add(-tuple.Millisecond)}
	began := time.Now()
	p.send <- []tuple.Time{*at}
	select {
	case came := <-p.came:
		return came.Sub(began)
	case <-time.After(patient):
		require.FailNow(t, "no result", "window that ends at %v", *at)
		return 0
	}
}
