package connect

import (
	"fmt"

	"fednode/query/tuple"
)

// Block is what a reader delivers at once. It is owned by the receiver.
type Block struct {
	// Batch holds the rows, dense; nil if there is none. Time is the event time of each row, zero throughout if the
	// stream's time is its arrival: the receiver then writes it.
	Batch *tuple.Batch
	// Rejects are the records that could not be read, in order; Reject.Before places each among the rows.
	Rejects []Reject
	// Pos is the reader's position after this block, opaque, at most MaxPosition bytes. It is only valid for a source
	// of the same declaration.
	Pos []byte
	// Status is how the source stands after this block.
	Status Status
}

// Rows returns the number of rows.
func (b *Block) Rows() int {
	if b.Batch == nil {
		return 0
	}
	return b.Batch.Rows()
}

// MaxPosition bounds Block.Pos in bytes.
const MaxPosition = 1 << 20

// State is how a source stands.
type State uint8

// The states.
const (
	// Behind: there is more to read at once.
	Behind State = iota
	// Idle: connected, everything there is has been read, more may come.
	Idle
	// Disconnected: what is read from is not there; the reader keeps trying.
	Disconnected
	// Ended: nothing will come any more; see End.
	Ended
)

var stateNames = [...]string{"behind", "idle", "disconnected", "ended"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return fmt.Sprintf("state(%d)", uint8(s))
}

// End is how a source ended.
type End string

// The ends. Any but EndEOF means that the input was not whole; what could be read was delivered.
const (
	EndEOF       End = "eof"
	EndTruncated End = "truncated" // a compressed or binary file stops in the middle, or a file shrank while it was read
	EndCorrupt   End = "corrupt"   // a compressed or binary file is damaged
	EndVanished  End = "vanished"  // a file was gone before or while it was read
	EndReplaced  End = "replaced"  // another file stood under the name before this one had been read to its end
)

// Status is how a source stands, and what a person should know about it.
type Status struct {
	State  State
	End    End    // for Ended
	Detail string // which file and what about it; "" if all is well
}

// Reason says why a record was set aside. The set is closed.
type Reason uint8

// The reasons.
const (
	OK          Reason = iota // no reason: the record was read
	Syntax                    // the record is not well-formed
	FieldCount                // a row has more or fewer fields than its header
	WrongType                 // a value is not of its column's type
	OutOfRange                // a number does not fit its column: beyond int64, more digits than the decimal has
	WrongUnit                 // a timestamp is plausible only in another unit than the declared one
	NoTime                    // the column of the stream's time is null
	BadUTF8                   // a string is not UTF-8
	TooLarge                  // the record is larger than max_row
	Cut                       // the input ended within the record
	reasonCount = iota
)

var reasonNames = [reasonCount]string{"ok", "syntax", "field_count", "wrong_type", "out_of_range", "wrong_unit", "no_time", "bad_utf8", "too_large", "cut"}

// String returns the reason's name, as metrics and side records show it.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return fmt.Sprintf("reason(%d)", uint8(r))
}

// Reasons returns the names of all reasons, for the label of a metric.
func Reasons() []string { return append([]string(nil), reasonNames[1:]...) }

// MaxRaw is how much of a rejected record is kept, in bytes.
const MaxRaw = 4096

// Place is where a record begins.
type Place struct {
	File string
	// Line counts from 1; 0 if the format has none.
	Line int64
	// Offset is in bytes of the uncompressed file; for Arrow and Parquet it is the row's number from 0.
	Offset int64
}

// String prints file:line, or file@offset.
func (p Place) String() string {
	if p.Line > 0 {
		return fmt.Sprintf("%s:%d", p.File, p.Line)
	}
	return fmt.Sprintf("%s@%d", p.File, p.Offset)
}

// Reject is a record that could not be read.
type Reject struct {
	Reason Reason
	// Field is the column that could not be read; "" if it is the record as a whole.
	Field string
	Place Place
	// Detail says what was found and what was expected.
	Detail string
	// Raw is the beginning of the record, at most MaxRaw bytes; Size is its whole length in bytes.
	Raw  []byte
	Size int64
	// Before is how many rows of the block come before this record.
	Before int
}

// Error prints the place, the field and the detail.
func (r *Reject) Error() string {
	if r.Field == "" {
		return fmt.Sprintf("%v: %v: %s", r.Place, r.Reason, r.Detail)
	}
	return fmt.Sprintf("%v: column %s: %v: %s", r.Place, r.Field, r.Reason, r.Detail)
}

// RejectSchema returns the schema of a stream's side output for records that could not be read, `<stream>.errors`.
func RejectSchema() *tuple.Schema {
	return tuple.MustSchema(
		tuple.Field{Name: "reason", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "field", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "file", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "line", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "offset", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "detail", Type: tuple.Of(tuple.String)},
		tuple.Field{Name: "raw", Type: tuple.Of(tuple.Bytes)},
	)
}

// AppendReject appends a reject as a row of RejectSchema with stime t; what a reject does not have is null.
func AppendReject(b *tuple.BatchBuilder, r *Reject, t tuple.Time) {
	text := func(i int, s string) {
		if s == "" {
			b.AppendNull(i)
			return
		}
		b.AppendBin(i, []byte(s))
	}
	text(0, r.Reason.String())
	text(1, r.Field)
	text(2, r.Place.File)
	if r.Place.Line > 0 {
		b.AppendInt(3, r.Place.Line)
	} else {
		b.AppendNull(3)
	}
	b.AppendInt(4, r.Place.Offset)
	text(5, r.Detail)
	b.AppendBin(6, r.Raw)
	b.EndRow(t)
}
