package flow

import (
	"context"
	"hash/fnv"
	"slices"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// Network is how a consumer reaches the producers of a stream, on this node or on others. Producers are named "org/node",
// or "org/*" for whichever node of that organisation gives a stream.
type Network interface {
	// OpenFrom opens a stream at one producer. A *RefusedError is final until somebody changes something; a
	// *dcaa.TruncatedError says that the position is gone there; any other error is worth another try.
	OpenFrom(ctx context.Context, producer, stream string, s Subscriber) (Cursor, error)
	// Ack passes on what the subscriber's durable state covers, to every producer of the stream. It does not block; an
	// acknowledgement may be lost, and the next one covers it.
	Ack(stream, subscriber string, producers []string, p tuple.Position)
	// Watch calls note with news of nodes, at once with what is known, until stop has returned. note is called from any
	// goroutine and does not block.
	Watch(names []string, note func(News)) (stop func())
}

// News is what is newly known of one node.
type News struct {
	Name string
	// Up: it is heard, and hears us. This node itself is always up.
	Up bool
	// Way is what is known of the way from it.
	Way dcaa.Way
	// Life tells its sessions apart; 0 if they are not known.
	Life uint64
	// Anew: it is in another session than when news were last taken. What was known of it before is void.
	Anew bool
	// Said looks up what its heartbeat says of a stream; nil if nothing of them is news. It may be called from any goroutine.
	Said func(stream string) (s dcaa.StreamStatus, ok bool)
}

// Of returns what the news say of a stream.
func (n *News) Of(stream string) (s dcaa.StreamStatus, ok bool) {
	if n.Said == nil {
		return s, false
	}
	return n.Said(stream)
}

// Preferred is the index of the producer that a consumer asks first: its own node, else consumers spread by their names.
func Preferred(producers []string, self, consumer string) int {
	if n := slices.Index(producers, self); n >= 0 {
		return n
	}
	h := fnv.New32a()
	h.Write([]byte(consumer))
	return int(h.Sum32() % uint32(max(1, len(producers))))
}
