package source

import (
	"fmt"

	"fednode/node/connect"
	"fednode/node/ingest"
	"fednode/query/tuple"
)

// recordVersion is the layout of a log record: docs/formats/source-record.md.
const recordVersion = 1

// record is one commit of a source, as the log holds it.
type record struct {
	// state is what the next decision depends on, after this commit.
	state  ingest.State
	totals ingest.Totals
	errors uint64 // records set aside as unreadable, since the stream began
	// position is the connector's own, after this commit; nil if the commit came from the clock.
	position []byte
	ended    bool
	// batch holds the accepted rows; nil if there are none. firstID is the id of the first.
	firstID uint64
	batch   *tuple.Batch
	side    []aside
}

// aside is a row or record that is not part of the stream, and why.
type aside struct {
	// reason is "late", "future", or a connector's reason.
	reason string
	// limit is what a late or future row was held against; 0 otherwise.
	limit tuple.Time
	time  tuple.Time
	field string
	place string
	// detail says what was found and expected; raw is the beginning of the record, or the row as JSON.
	detail string
	raw    []byte
}

func (r *record) lastID() uint64 { return r.state.NextID - 1 }

func (r *record) encode(e *tuple.Encoder, schema *tuple.Schema) {
	e.B = append(e.B, recordVersion)
	e.Uint(schema.Fingerprint())
	e.Uint(r.state.NextID)
	e.Time(r.state.High)
	e.Time(r.state.Idle)
	e.Time(r.state.Boundary)
	e.Uint(r.totals.Rows)
	e.Uint(r.totals.Late)
	e.Uint(r.totals.Future)
	e.Uint(r.totals.Clamped)
	e.Uint(r.errors)
	e.Bool(r.position != nil)
	e.Bytes(r.position)
	e.Bool(r.ended)
	e.Uint(uint64(len(r.side)))
	for i := range r.side {
		r.side[i].encode(e)
	}
	e.Uint(r.firstID)
	e.Bool(r.batch != nil)
	if r.batch != nil {
		e.Batch(r.batch)
	}
}

func (a *aside) encode(e *tuple.Encoder) {
	e.String(a.reason)
	e.Time(a.limit)
	e.Time(a.time)
	e.String(a.field)
	e.String(a.place)
	e.String(a.detail)
	e.Bytes(a.raw)
}

// decodeRecord reads a record. With rows false the batch is left out, for callers that want the state only.
func decodeRecord(b []byte, schema *tuple.Schema, rows bool) (*record, error) {
	d := tuple.NewDecoder(b)
	if len(b) == 0 || b[0] != recordVersion {
		return nil, fmt.Errorf("source record: unknown version; this build reads version %d", recordVersion)
	}
	d = tuple.NewDecoder(b[1:])
	if got, want := d.Uint(), schema.Fingerprint(); d.Err() == nil && got != want {
		return nil, &SchemaError{Schema: schema}
	}
	r := &record{
		state:  ingest.State{NextID: d.Uint(), High: d.Time(), Idle: d.Time(), Boundary: d.Time()},
		totals: ingest.Totals{Rows: d.Uint(), Late: d.Uint(), Future: d.Uint(), Clamped: d.Uint()},
		errors: d.Uint(),
	}
	hasPos := d.Bool()
	r.position = append([]byte(nil), d.Bytes()...)
	if !hasPos {
		r.position = nil
	} else if r.position == nil {
		r.position = []byte{}
	}
	r.ended = d.Bool()
	for range d.Count(7) {
		r.side = append(r.side, aside{reason: d.String(), limit: d.Time(), time: d.Time(), field: d.String(), place: d.String(), detail: d.String(), raw: append([]byte(nil), d.Bytes()...)})
	}
	r.firstID = d.Uint()
	hasBatch := d.Bool()
	if !rows {
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

// rejected turns a connector's reject into an aside.
func rejected(r *connect.Reject, at tuple.Time) aside {
	return aside{reason: r.Reason.String(), time: at, field: r.Field, place: r.Place.String(), detail: r.Detail, raw: r.Raw}
}

// judged turns a verdict about a row into an aside; the row is kept as JSON, as it would have been sent.
func judged(v ingest.Verdict, b *tuple.Batch) aside {
	a := aside{reason: "future", limit: v.Limit, time: b.Time[v.Row]}
	if v.Late {
		a.reason = "late"
	}
	a.raw = []byte{'{'}
	for i, f := range b.Schema.Fields() {
		if i > 0 {
			a.raw = append(a.raw, ',')
		}
		a.raw = append(tuple.AppendJSONString(a.raw, []byte(f.Name)), ':')
		a.raw = b.Cols[i].AppendJSON(a.raw, int(v.Row), tuple.FloatString)
	}
	a.raw = append(a.raw, '}')
	if len(a.raw) > connect.MaxRaw {
		a.raw = a.raw[:connect.MaxRaw]
	}
	return a
}
