package fragment

import (
	"context"
	"time"

	"fednode/dcaa"
	"fednode/node/flow"
	"fednode/query/tuple"
)

// Network is how a fragment reaches the producers of its inputs, and its other replicas. Producers are named "org/node",
// or "org/*" for whichever node of that organisation gives a stream.
type Network interface {
	// OpenFrom opens a stream at one producer. A *dcaa.TruncatedError says that the position is gone there.
	OpenFrom(ctx context.Context, producer, stream string, s flow.Subscriber) (flow.Cursor, error)
	// Ack passes on what the subscriber's durable state covers, to every producer of the stream. It does not block; an
	// acknowledgement may be lost, and the next one covers it.
	Ack(stream, subscriber string, producers []string, p tuple.Position)
	// Watch calls note with news of nodes, at once with what is known, until stop has returned. note is called from any
	// goroutine and does not block.
	Watch(names []string, note func(News)) (stop func())
	// Tell sends a message about permission to a replica of the same fragment; it may be lost.
	Tell(to, fragment string, m dcaa.PermissionMessage)
}

// News is what is newly known of one node.
type News struct {
	Name string
	// Up: it is heard, and hears us. This node itself is always up.
	Up  bool
	RTT time.Duration
	// Streams are what its heartbeat says, by name; nil if nothing of them is news.
	Streams map[string]dcaa.StreamStatus
}
