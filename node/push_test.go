package node

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/api"
	"fednode/node/connect/format"
	"fednode/node/connect/push"
	"fednode/query/tuple"
)

const eventsStream = `
[streams.events]
connector = "http"
time = "at"
columns = { at = "timestamp", kind = "string" }
`

const perSecond = `
[query]
name = "rate"
max_delay = "inf"
[streams.events]
connector = "node"
stream = "solo/events"
time = "at"
columns = { at = "timestamp", kind = "string" }
[operators.counts]
kind = "aggregate"
input = "events"
window = { tumbling = "1s" }
group_by = ["kind"]
aggregates = { n = "count()" }
[outputs.counts]
input = "counts"
connector = "node"
`

// TestPush pushes rows over the API's way in, and follows the query's output: the windows close although no later row
// comes, and a body sent twice under one key counts once.
func TestPush(t *testing.T) {
	f := newFed(t, map[string]string{"solo": eventsStream})
	n := f.nodes["solo"]
	n.start()
	_, err := n.node.Deploy(t.Context(), "rate.toml", []byte(perSecond), false)
	require.NoError(t, err)
	b := n.node.Backend(nil, func() []string { return nil })
	f.eventually(func() bool { return n.node.streams.Find("solo/rate/counts") != nil }, "the output is there")
	tail, err := b.Tail(t.Context(), "solo/rate/counts", api.TailFrom{Beginning: true})
	require.NoError(t, err)
	defer tail.Close()

	target, err := b.PushTarget("solo/events")
	require.NoError(t, err)
	// Ahead of the clock: none is late, however slow the machine is.
	second := time.Now().UTC().Truncate(time.Second).Add(20 * time.Second)
	body := fmt.Sprintf("{\"at\":%q,\"kind\":\"a\"}\n{\"at\":%q,\"kind\":\"b\"}\nnot json\n{\"at\":%q,\"kind\":\"a\"}\n",
		second.Format(time.RFC3339), second.Format(time.RFC3339), second.Add(900*time.Millisecond).Format(time.RFC3339Nano))
	for range 2 {
		blocks, err := push.Decode(t.Context(), target.Shape, format.DefaultOptions(format.JSONL), "body", strings.NewReader(body), 1<<20)
		require.NoError(t, err)
		require.NoError(t, target.Inbox.Push(t.Context(), "key-1", blocks))
	}
	var got []string
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	for len(got) < 2 {
		fr, err := tail.Next(ctx)
		require.NoError(t, err, "after %q", got)
		if fr.Kind != tuple.Insertion {
			continue
		}
		for i := range fr.Batch.Rows() {
			got = append(got, string(fr.Batch.Cols[2].AppendText(nil, i))+" "+string(fr.Batch.Cols[3].AppendText(nil, i)))
		}
	}
	require.Equal(t, []string{"a 2", "b 1"}, got)
	_, err = b.PushTarget("solo/rate/counts")
	require.ErrorIs(t, err, api.ErrInvalid)
	_, err = b.PushTarget("solo/nothing")
	require.ErrorIs(t, err, api.ErrNotFound)
}
