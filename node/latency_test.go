package node

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/connect"
	"fednode/node/windowbench"
	"fednode/query/spec"
)

// probed is a connector kind whose source is the probe's.
func probed(p *windowbench.Probe) connect.Kind {
	return connect.Kind{Name: "probed", Source: func(*spec.Reader, *connect.Stream) *connect.SourcePlan {
		return &connect.SourcePlan{Detail: "probed", New: func(connect.Env) connect.Source { return p.Source() }}
	}}
}

// latencyLimit is how long the result of a window may take from the record that closes it, which here ends a bucket and
// brings its boundary along.
const latencyLimit = 10 * time.Millisecond

// TestWindowCloseLatency: the record that ends a window goes through the source's durable log, a fragment and a client
// proxy; the window's result comes out in time. A machine may do other things at any moment: the quickest quarter of some
// windows counts, and it may take a while until there is a calm stretch.
func TestWindowCloseLatency(t *testing.T) {
	p := windowbench.New()
	north := benchNode(t, probed(p), "north", "[streams.ticks]\nconnector = \"probed\"\ntime = \"ts\"\ncolumns = { ts = \"timestamp\", n = \"int64\" }\n")
	north.run(t)
	_, err := north.node.Deploy(t.Context(), "count.toml", windowbench.Query("count", "north/ticks"), false)
	require.NoError(t, err)
	north.consume(t, p.Sink(), "north/count/out")

	closeWindow(t, p) // the first waits for the query to start
	quick := latencyLimit
	for began := time.Now(); quick >= latencyLimit && time.Since(began) < patient; {
		took := make([]time.Duration, 40)
		for i := range took {
			took[i] = closeWindow(t, p)
		}
		slices.Sort(took)
		quick = took[len(took)/4]
		t.Logf("quartile %v, median %v, worst %v", quick, took[len(took)/2], took[len(took)-1])
	}
	require.Less(t, quick, latencyLimit)
}

func closeWindow(t *testing.T, p *windowbench.Probe) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	took, err := p.CloseWindow(ctx)
	require.NoError(t, err)
	return took
}
