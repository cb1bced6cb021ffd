package connect

import (
	"context"
	"io"
	"time"

	"fednode/query/spec"
)

// Source is an opened declaration of where records come from.
type Source interface {
	// Open returns a reader that goes on after pos, a Block.Pos of an earlier reader of the same declaration; nil is
	// the beginning. A position that is damaged is an error; one whose file is gone is not: the reader says so in its
	// status and goes on with what is there.
	Open(ctx context.Context, pos []byte) (Reader, error)
}

// Reader delivers the blocks of a source in order. It belongs to one goroutine.
type Reader interface {
	// Next returns the next block: at most Env.BlockRows rows, fewer as soon as nothing more is there at once. A block
	// without rows tells a change of Status. With nothing to tell, Next waits until there is, or ctx is done: then it
	// returns ctx's error, loses nothing, and can be called again. After a block with State Ended it returns io.EOF.
	// Any other error ends the reader; what was delivered before stands.
	Next(ctx context.Context) (*Block, error)

	// Close frees what the reader holds; it is idempotent.
	Close() error
}

// Looking is implemented by readers that look for records by themselves, as one that follows a file does. Others are told
// of each record, or make them.
type Looking interface {
	// Looked returns when the reader began to look the last time that it found nothing, the zero time before the first:
	// every record that was there by then has been returned. It may be called from any goroutine.
	Looked() time.Time
}

// Durable is implemented by readers whose origin waits for an answer. The source proxy calls it, from the reader's
// goroutine, whenever everything that Next has returned so far is durable.
type Durable interface{ Durable() }

// Clock is the time that a connector goes by: for pacing and polling, never for what a row says.
type Clock interface {
	Now() time.Time
	// After returns a channel that receives once d has passed.
	After(d time.Duration) <-chan time.Time
}

// SystemClock is the machine's clock.
type SystemClock struct{}

// Now returns the current time.
func (SystemClock) Now() time.Time { return time.Now() }

// After returns a channel that receives once d has passed.
func (SystemClock) After(d time.Duration) <-chan time.Time { return time.After(d) }

// DefaultBlockRows is the number of rows of a full block.
const DefaultBlockRows = 4096

// Env is what a connector instance is given by the one who runs it.
type Env struct {
	// Dir is the directory that relative paths are relative to; "" is the working directory.
	Dir string
	// BlockRows is the largest number of rows of a block; 0 means DefaultBlockRows.
	BlockRows int
	Stdin     io.Reader // what the path "-" reads; nil if there is none
	Stdout    io.Writer // what the path "-" writes; nil if there is none
	Clock     Clock     // nil means SystemClock
}

// Rows returns the largest number of rows of a block.
func (e *Env) Rows() int {
	if e.BlockRows <= 0 {
		return DefaultBlockRows
	}
	return e.BlockRows
}

// Time returns the clock.
func (e *Env) Time() Clock {
	if e.Clock == nil {
		return SystemClock{}
	}
	return e.Clock
}

// SourcePlan is a checked declaration of a source.
type SourcePlan struct {
	// Bounded sources end by themselves.
	Bounded bool
	// Live sources deliver records as they happen: silence may advance their time. Files read to their end and
	// generators are not live.
	Live bool
	// Disordered: the format is known to hold records late (Zeek writes a connection when it ends, with its start
	// time), so a stream without slack deserves a warning.
	Disordered bool
	// Rate is how many rows a second of the clock it gives, 0 if its declaration does not say.
	Rate float64
	// Detail is the declaration on one line, for explain.
	Detail string
	// Files returns the files that would be read now, with relative names in dir; nil where the connector has no path.
	Files func(dir string) []string
	// New makes the source; it touches nothing outside yet.
	New func(env Env) Source
	// WithPath returns the plan of the same stream read from another file to its end, as `query run --source` asks for.
	// The declared format stays, unless the new name tells another. nil where the connector has no path.
	WithPath func(path string) *SourcePlan
}

// SinkPlan is a checked declaration of a sink.
type SinkPlan struct {
	Detail string
	// Path is the file that is written, "-" for standard output and "" where the connector has no path.
	Path string
	// Tentative: the sink is a TaggingSink and wants tentative results too.
	Tentative bool
	// CommitRows is after how many rows a commit is due; 0 leaves it to who runs the sink.
	CommitRows uint64
	// New makes the sink for rows of the schema given to the kind.
	New func(env Env) Sink
	// WithPath returns the plan of the same sink writing to another file, or an error if its name tells a format that
	// cannot be written. The declared format stays, unless the new name tells another. nil where there is no path.
	WithPath func(path string) (*SinkPlan, error)
}

// Kind is one kind of connector. Its functions read the connector's own keys with r (the caller has read its keys, and
// calls r.Done afterwards), record every problem there, and return nil if there was one.
type Kind struct {
	Name   string
	Source func(r *spec.Reader, s *Stream) *SourcePlan // nil: the kind is no source
	Sink   func(r *spec.Reader, s *SinkStream) *SinkPlan
}
