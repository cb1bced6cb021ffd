package query

import (
	"fednode/query/spec"
	"fednode/query/tuple"
)

// Stream is where data enters: a connector of our own, or a stream of another organisation.
type Stream struct {
	Name      string
	Pos       spec.Pos
	Connector string
	// Foreign is "org/stream" for connector "node", else "".
	Foreign string
	// Keys is the whole declaration; the connector's own keys are among it.
	Keys    *spec.Table
	Schema  *tuple.Schema
	Columns []Column // one per field of Schema
	// Time is the column that holds event time, -1 for arrival time.
	Time   int
	Rules  Rules
	Place  Place
	Traits Traits

	rulesPos map[string]spec.Pos // of the keys that validation speaks about again
}

// Column says how a record's fields make a column. The zero value of a field means that the key is not there.
type Column struct {
	Name string
	// Field is the record's field; the column's name if not given.
	Field string
	// From are several fields that make one time: with Layout joined by a space, without it numbers for year, month, day,
	// hour, minute and second, as many as there are.
	From []string
	// Unit of a timestamp or duration given as a number, in nanoseconds: 1, 1000, 1e6 or 1e9.
	Unit int64
	// Layout of a timestamp given as text, in the form of Go's time package; "" is RFC 3339.
	Layout string
	// Zone of a timestamp without one; "" is UTC.
	Zone string
}

// Rules are what the source proxy decides by when it appends a record. Durations are in microseconds.
type Rules struct {
	// MaxOutOfOrder is how far a row may lie behind the largest stime before it; Unbounded waits for the end.
	MaxOutOfOrder int64
	// Lag is by how much rows normally come after their stime; Measured finds out.
	Lag       int64
	Late      LatePolicy
	Idle      IdlePolicy
	IdleAfter int64
	InitDelay int64
	Future    FuturePolicy
	// MaxFutureSkew is how far a row may lie ahead of its arrival; Unbounded does not ask.
	MaxFutureSkew int64
	OnError       ErrorPolicy
	// Rate is how many rows a second the stream is said to have, 0 if nothing is said.
	Rate int64
	// MaxRow is the largest record in bytes.
	MaxRow int64
	// Retain is how long the log keeps what everybody has acknowledged; 0 leaves it to the node.
	Retain int64
}

// Measured is the Lag of a stream that declares none.
const Measured int64 = -1

// LatePolicy says what becomes of late rows.
type LatePolicy string

// The policies for late rows.
const (
	LateDrop  LatePolicy = "drop"
	LateSide  LatePolicy = "side"
	LateClamp LatePolicy = "clamp"
)

// IdlePolicy says whether the boundary goes on while a source has nothing to send.
type IdlePolicy string

// The policies for idle sources.
const (
	IdleAdvance IdlePolicy = "advance"
	IdleHold    IdlePolicy = "hold"
)

// FuturePolicy says what becomes of rows from the future.
type FuturePolicy string

// The policies for rows from the future.
const (
	FutureSide  FuturePolicy = "side"
	FutureClamp FuturePolicy = "clamp"
)

// ErrorPolicy says what becomes of records that cannot be read.
type ErrorPolicy string

// The policies for unreadable records.
const (
	ErrorSide ErrorPolicy = "side"
	ErrorSkip ErrorPolicy = "skip"
	ErrorFail ErrorPolicy = "fail"
)

// Connectors is what a diagram asks about connectors. An implementation is called on the goroutine of Parse, does no
// I/O, and records every problem in the reader.
type Connectors interface {
	// Source reads the own keys of s.Connector with r, which has read those that all streams share, and returns what
	// validation has to know. s has the Schema of the columns it declared, nil if it declared none or they are wrong.
	Source(s *Stream, r *spec.Reader) Traits
	// Sink reads the own keys of o.Connector.
	Sink(o *Output, r *spec.Reader)
	// SourceNames and SinkNames list the connectors, without "node".
	SourceNames() []string
	SinkNames() []string
}

// Traits is what a connector knows about a source from its declaration.
type Traits struct {
	// Bounded sources end: files that are not followed, generators with a number of rows.
	Bounded bool
	// Replayed sources carry times that have nothing to do with their arrival, such as a generator's fixed past.
	Replayed bool
	// LateBy says why this source's rows come out of order by nature, "" if they do not: a Zeek log has a connection's
	// start time and is written at its end.
	LateBy string
	// Fields are the columns that the connector gives when the file declares none.
	Fields []tuple.Field
	// Time is the event time column that goes with Fields.
	Time string
	// Rate is how many rows a second it gives, 0 if that is not known.
	Rate float64
}
