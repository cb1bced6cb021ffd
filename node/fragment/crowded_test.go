package fragment

import (
	"errors"
	"strings"
	"testing"

	"go.uber.org/zap"

	"fednode/node/connect"
	"fednode/node/flow"
	"fednode/query/op"
	"fednode/query/tuple"
)

// TestInputWithoutBoundaries shows that a fragment whose inputs send rows and no boundary ends at its limit, with an error
// that names the stream and the remedy, instead of filling memory.
func TestInputWithoutBoundaries(t *testing.T) {
	h := newHarness(t, 3000)
	_, frames := h.net.find("north/a").(*flow.Output).Unacknowledged()
	endless := flow.NewOutput(flow.OutputConfig{Name: "north/a", Schema: frames[0].Batch.Schema, Limit: 1 << 30, Generation: 1, Start: tuple.Position{Time: tuple.MinTime}})
	h.net.put(endless)
	for _, f := range frames {
		if f.Kind == tuple.Insertion {
			endless.Append(f)
		}
	}
	const limit = 100_000
	r, err := Open(joined{h.net}.apply(Config{Name: "north/q/sums", Subscriber: "north/n1/q/sums", Plan: testPlan(t), Points: Store{Points: h.points}, Clock: connect.SystemClock{}, Log: zap.NewNop(), InputBytes: limit, WaitingRows: 100}))
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(t.Context())
	var passed *op.LimitError
	if !errors.As(err, &passed) || passed.Limit != limit || !strings.Contains(err.Error(), "north/a") || !strings.Contains(err.Error(), "max_out_of_order") {
		t.Fatalf("ended with %v, want the limit, the stream and the remedy", err)
	}
}
