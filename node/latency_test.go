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
// proxy; the window's result comes out in time. The median counts, for a machine may do other things at any moment.
func TestWindowCloseLatency(t *testing.T) {
	p := newPushed()
	north := benchNode(t, p.kind(), "north", "[streams.ticks]\nconnector = \"pushed\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\", n = \"int64\" }\n")
	north.run(t)
	_, err := north.node.Deploy(t.Context(), "count.toml", []byte(countQuery), false)
	require.NoError(t, err)
	north.consume(t, p, "north/count/out")

	start := tuple.Time(1_700_000_000 * tuple.Second)
	p.send <- []tuple.Time{start}
	var took []time.Duration
	for window := range int64(41) {
		end := start.Add((window + 1) * tuple.Second)
		p.send <- []tuple.Time{end.Add(-tuple.Millisecond)}
		began := time.Now()
		p.send <- []tuple.Time{end}
		select {
		case at := <-p.came:
			took = append(took, at.Sub(began))
		case <-time.After(10 * time.Second):
			require.FailNow(t, "no result", "window %d", window)
		}
	}
	slices.Sort(took[1:]) // the first waits for the query to start
	median, worst := took[1:][len(took)/2-1], took[len(took)-1]
	t.Logf("median %v, worst %v", median, worst)
	require.Less(t, median, latencyLimit)
}
