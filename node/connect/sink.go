package connect

import (
	"context"

	"fednode/query/tuple"
)

// SinkStream is what a sink is declared for.
type SinkStream struct {
	Name   string
	Schema *tuple.Schema
	// Bounded: the rows end, and the result appears as a whole at Finish. Otherwise rows are appended for ever.
	Bounded bool
	// Sink is the name under which the sink is known in the federation, "" where no node runs it.
	Sink string
	// Databases are those that the node lets sinks write to, by name; nil where no node is known.
	Databases map[string]Database
}

// SinkRows is a run of stable rows for a sink. The batch is borrowed: it is the caller's again when Write returns.
type SinkRows struct {
	Batch *tuple.Batch
	// FirstID is the id of the first row; the ids are consecutive unless IDs names each. Generation is theirs.
	Generation uint64
	FirstID    uint64
	IDs        []uint64
}

// Sink takes rows. The order of calls is Recover, then any number of Write and Commit, then Finish or Close. After an
// error (a full disk) the sink is closed; a new one goes on from the last state with Recover.
type Sink interface {
	// Recover begins: at nothing if state is nil, else at exactly what the Commit that returned state had made durable;
	// what was written after it is gone. It returns the position given to that Commit (zero if none). An error says
	// what is wrong with the target and what to do; the sink is then not used.
	Recover(ctx context.Context, state []byte) (tuple.Position, error)

	// Write takes rows that follow what was written before. They may be lost until the next Commit.
	Write(ctx context.Context, rows SinkRows) error

	// Commit makes durable all that was written, and returns a state for Recover that holds pos. The caller stores the
	// state before it acknowledges pos upstream.
	Commit(ctx context.Context, pos tuple.Position) (state []byte, err error)

	// Finish ends a bounded result: it becomes visible under its name as a whole.
	Finish(ctx context.Context) error

	// Close frees what the sink holds and leaves what is not finished to the next Recover; of a bounded result without a
	// Commit nothing stays. It is idempotent, and does nothing after Finish.
	Close() error
}

// ClaimingSink is a sink whose target keeps the position together with the rows, as a database does in one transaction.
// Recover returns what is found there, which may be ahead of the position in the state, if a process was killed before it
// could store that; or behind it, if the target was put back to what it had been.
type ClaimingSink interface {
	Sink

	// Claim returns the state of a sink that has written nothing. It is stored before the first Recover is given it: so
	// what is found at the target under another claim is of a former deployment, and not to be gone on from.
	Claim() []byte
}

// TaggingSink is a sink that marks what is not final, or takes it back afterwards. Where tentative results are wanted it is
// given them too. At any moment the results are the stable rows, and those tentative ones that no later Undo
// or Done has named.
type TaggingSink interface {
	Sink

	// WriteTentative takes rows made from what was there while an input was missing. The batch is borrowed.
	WriteTentative(ctx context.Context, b *tuple.Batch) error

	// Undo says that the tentative rows with a stime from t on are void; MinTime voids all.
	Undo(ctx context.Context, t tuple.Time) error

	// Done says that the tentative rows with a stime before t have been replaced by the stable ones written before;
	// MaxTime says so of all.
	Done(ctx context.Context, t tuple.Time) error
}
