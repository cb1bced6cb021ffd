package flow

import (
	"context"
	"errors"
	"time"

	"fednode/dcaa"
	"fednode/query/tuple"
)

// ErrClosed means that the stream has been closed: its fragment or source stopped here. The consumer looks for it anew.
var ErrClosed = errors.New("stream closed")

// Subscriber says who opens a stream, and what it has.
type Subscriber struct {
	// Name tells subscribers of one stream apart and stays the same over reconnects and restarts, for it is under this
	// name that acknowledgements count: "org/node/query/fragment".
	Name string
	// From is where the subscriber continues: it receives ids above From.ID, and drops rows before From.Time itself.
	From tuple.Position
	// Durable is what the subscriber's durable state covers: after a crash it would continue there. It counts as an
	// acknowledgement, so that one lost with a connection is made up for.
	Durable tuple.Position
	// Schema is what the subscriber expects, by column name; nil takes the stream as it comes.
	Schema *tuple.Schema
	// Tentative asks for tentative results too, for a suffix that is complete up to TentativeFrom.
	Tentative     bool
	TentativeFrom tuple.Time
	// Counted subscribers hold back truncation until they acknowledge. Others (a tail in a terminal) take what there is.
	Counted bool
}

// Stream is a stream produced on this node.
type Stream interface {
	// Name is the stream's full name: org/stream, or org/query/output.
	Name() string
	Schema() *tuple.Schema
	// Open returns a cursor behind the subscriber's position. It fails with a *dcaa.TruncatedError if the stream does not
	// reach back that far, with a *CrowdedError, and with ErrClosed.
	Open(s Subscriber) (Cursor, error)
	// Ack records that the subscriber's durable state covers the stream up to p. It does not block.
	Ack(subscriber string, p tuple.Position)
	// Forget stops counting a subscriber.
	Forget(subscriber string)
	// Head returns the position of what has been produced: highest id and boundary.
	Head() tuple.Position
	// Beat is what heartbeats say of the stream.
	Beat() dcaa.StreamStatus
}

// Keeper is a Stream that holds rows until its subscribers have acknowledged them.
type Keeper interface {
	Stream
	// ForgetAbsent stops counting replicas of neighbours that have another one, if their node has been away for longer than
	// after or too much is held for them, and returns who they are. absent is 0 while a subscriber's node is there; known
	// says which are replicas by a query that runs here.
	ForgetAbsent(absent func(subscriber string) time.Duration, after time.Duration, known func(subscriber string) bool) []string
}

// Cursor reads a stream in order.
type Cursor interface {
	// Next returns the next frame, owned. It blocks until there is one, ctx ends, or the stream is closed.
	Next(ctx context.Context) (*tuple.Frame, error)
	// Close frees the cursor; it does not end the subscription's claim on the buffer.
	Close()
}

// StatusOf is the status of a stream whose producer has no failure to report: it has begun, or not, or ended.
func StatusOf(head tuple.Position) dcaa.StreamStatus {
	s := dcaa.StreamStatus{State: dcaa.Stable, Boundary: head.Time, Generation: head.Generation, LastID: head.ID}
	switch head.Time {
	case tuple.MinTime:
		s.State = dcaa.Starting
	case tuple.MaxTime:
		s.State = dcaa.Ended
	}
	return s
}
