package client

import (
	"context"

	"fednode/node/flow"
	"fednode/query/tuple"
)

// Tail follows a stream without counting: it takes what there is, and holds nothing back at the producer.
type Tail struct{ in *flow.Inlet }

// NewTail returns a tail behind a position.
func NewTail(dir flow.Directory, stream, name string, from tuple.Position) *Tail {
	return &Tail{in: flow.NewInlet(dir, stream, flow.Subscriber{Name: name, From: from}, func(context.Context, flow.InletEvent) {})}
}

// Next returns the next frame, owned: INSERTION, BOUNDARY or GAP. It waits through failures and fails only when ctx
// ends.
func (t *Tail) Next(ctx context.Context) (*tuple.Frame, error) { return t.in.Next(ctx) }

// Close ends the tail.
func (t *Tail) Close() { t.in.Close() }
