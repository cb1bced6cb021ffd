package source

import (
	"fmt"

	"fednode/node/ingest"
	"fednode/query/tuple"
)

// recordVersion is the layout of a log record: docs/formats/source-record.md.
const recordVersion = 2

// firstVersion is the oldest layout that is read: it says nothing of the lag.
const firstVersion = 1

// record is one commit of a source, as the log holds it.
type record struct {
	// state is what the next decision depends on, after this commit.
	state  ingest.State
	totals ingest.Totals
	// lag is what has been measured of it, in microseconds; ingest.Measured if nothing has.
	lag    int64
	errors uint64 // records set aside as unreadable, since the stream began
	// position is the connector's own, after this commit; nil if the commit came from the clock.
	position []byte
	ended    bool
	// batch holds the accepted rows; nil if there are none. firstID is the id of the first.
	firstID uint64
	batch   *tuple.Batch
	side    side
}

func (r *record) lastID() uint64 { return r.state.NextID - 1 }

func (r *record) encode(e *tuple.Encoder, schema *tuple.Schema) {
	e.B = append(e.B, recordVersion)
	e.Uint(schema.Fingerprint())
	e.Uint(r.state.NextID)
	e.Time(r.state.High)
	e.Time(r.state.Idle)
	e.Time(r.state.Boundary)
	e.Int(r.lag)
	e.Uint(r.totals.Rows)
	e.Uint(r.totals.Late)
	e.Uint(r.totals.Future)
	e.Uint(r.totals.Clamped)
	e.Uint(r.errors)
	e.Bool(r.position != nil)
	e.Bytes(r.position)
	e.Bool(r.ended)
	r.side.encode(e)
	e.Uint(r.firstID)
	e.Bool(r.batch != nil)
	if r.batch != nil {
		e.Batch(r.batch)
	}
}

// part says how much of a record is decoded, besides its state and numbers.
type part uint8

const (
	// stateOnly is for whoever goes on after the record.
	stateOnly part = iota
	// withRows is for readers of the stream, withSide for those of its side streams.
	withRows
	withSide
)

// decodeRecord reads a record of a stream of the given columns.
func decodeRecord(b []byte, schema *tuple.Schema, want part) (*record, error) {
	if len(b) == 0 || b[0] < firstVersion || b[0] > recordVersion {
		return nil, fmt.Errorf("source record: unknown version; this build reads versions %d to %d", firstVersion, recordVersion)
	}
	d := tuple.NewDecoder(b[1:])
	if got, want := d.Uint(), schema.Fingerprint(); d.Err() == nil && got != want {
		return nil, &SchemaError{Schema: schema}
	}
	r := &record{state: ingest.State{NextID: d.Uint(), High: d.Time(), Idle: d.Time(), Boundary: d.Time()}, lag: ingest.Measured}
	if b[0] > firstVersion {
		r.lag = max(d.Int(), ingest.Measured)
	}
	r.totals, r.errors = ingest.Totals{Rows: d.Uint(), Late: d.Uint(), Future: d.Uint(), Clamped: d.Uint()}, d.Uint()
	hasPos := d.Bool()
	r.position = append([]byte(nil), d.Bytes()...)
	if !hasPos {
		r.position = nil
	} else if r.position == nil {
		r.position = []byte{}
	}
	r.ended = d.Bool()
	r.side = decodeSide(d, schema, want == withSide)
	r.firstID = d.Uint()
	hasBatch := d.Bool()
	if want != withRows {
		return r, d.Err()
	}
	if hasBatch {
		r.batch = d.Batch(schema)
	}
	return r, d.Close()
}

// SchemaError says that a stream's log was written with other columns than the stream is declared with now.
type SchemaError struct{ Schema *tuple.Schema }

// Error says what to do.
func (e *SchemaError) Error() string {
	return fmt.Sprintf("the stream's log was written with other columns than it is declared with now (%v); declare the old columns, or give the stream another name", e.Schema)
}
