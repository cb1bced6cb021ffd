package node

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/export"
	"fednode/node/flow"
	"fednode/node/wire"
	"fednode/query/tuple"
)

// TestHistoryFromElsewhere shows that a stream of another node of ours leaves for a partner's query no further back than the
// export's history, which counts from where that node says that the stream stands, and that rows wait until it has said so.
func TestHistoryFromElsewhere(t *testing.T) {
	s := newStreams("south", nil, time.Now)
	s.peerUp("n2", "south", "n2")
	schema := tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})
	out := flow.NewOutput(flow.OutputConfig{Name: "south/a", Schema: schema, Limit: 1 << 20, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}})
	b := tuple.NewBatchBuilder(schema)
	for at := range tuple.Time(10) {
		b.AppendInt(0, int64(at))
		b.EndRow(at)
	}
	out.Append(&tuple.Frame{Kind: tuple.Insertion, Generation: 1, FirstID: 1, LastID: 10, Batch: b.Take()})
	cursor, err := out.Open(flow.Subscriber{Name: "south/n1/q/f", From: tuple.Position{Time: tuple.MinTime}})
	require.NoError(t, err)
	x := &export.Export{Name: "a", Stream: "south/a", Columns: []export.Column{{Name: "v"}}, History: 3}
	v := &viewed{Cursor: cursor, export: x, permitted: func() error { return nil }, head: func(ctx context.Context) (tuple.Time, error) { return s.remoteHead(ctx, "n2", "south/a") }}
	got := make(chan *tuple.Frame, 1)
	go func() {
		f, err := v.Next(t.Context())
		if err != nil {
			t.Error(err)
		}
		got <- f
	}()
	s.heard("n2", []wire.StreamStatus{{Name: "south/other", Boundary: 2}})
	s.heard("n2", []wire.StreamStatus{{Name: "south/a", Boundary: 9}, {Name: "south/other", Boundary: 2}})
	f := <-got
	require.Equal(t, []uint64{7, 8, 9, 10}, f.IDs, "stimes 6 to 9")

	s.peerDown("n2")
	_, err = s.remoteHead(t.Context(), "n2", "south/a")
	require.ErrorContains(t, err, "has gone")
}
