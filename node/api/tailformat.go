package api

import (
	"encoding/json"

	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// LostRows says which stable rows of a stream will not come.
type LostRows struct {
	From   StreamTime `json:"from"`
	To     StreamTime `json:"to"`
	Reason string     `json:"reason"`
}

// VoidRows says which tentative rows are void.
type VoidRows struct {
	// From is the first stime of them; null voids all.
	From StreamTime `json:"from"`
}

// ReplacedRows says which tentative rows have been replaced by stable ones.
type ReplacedRows struct {
	// Before is the first stime that is not meant; "end" means all.
	Before StreamTime `json:"before"`
}

// tailFormat is how a tail looks on the wire.
type tailFormat interface {
	contentType() string
	// schema is called before the rows of a batch.
	schema(s *tuple.Schema)
	row(dst []byte, b *tuple.Batch, row int, id TupleID) []byte
	// tentative is a row made from what was there while an input was missing; undo and done say what became of such rows.
	tentative(dst []byte, b *tuple.Batch, row int) []byte
	undo(dst []byte, v VoidRows) []byte
	done(dst []byte, r ReplacedRows) []byte
	boundary(dst []byte, t StreamTime) []byte
	gap(dst []byte, g LostRows) []byte
	// beat shows that a quiet tail is alive.
	beat(dst []byte) []byte
	end(dst []byte) []byte
}

// rowEncoder encodes rows of the schema set last.
type rowEncoder struct {
	of   *tuple.Schema
	rows *format.JSONRows
}

func (e *rowEncoder) schema(s *tuple.Schema) {
	if s != e.of {
		e.of, e.rows = s, format.NewJSONRows(s, false)
	}
}

// appendJSON appends a value of ours, which can always be shown.
func appendJSON(dst []byte, v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, b...)
}

// eventFormat is server-sent events.
type eventFormat struct{ rowEncoder }

func (*eventFormat) contentType() string { return "text/event-stream" }

func (f *eventFormat) row(dst []byte, b *tuple.Batch, row int, id TupleID) []byte {
	dst = id.append(append(dst, "id: "...))
	dst = f.rows.AppendTail(append(dst, "\ndata: "...), b, row, id.ID)
	return append(dst, "\n\n"...)
}

// tentative has no id: who reconnects goes on behind the last stable row.
func (f *eventFormat) tentative(dst []byte, b *tuple.Batch, row int) []byte {
	dst = f.rows.AppendTail(append(dst, "event: tentative\ndata: "...), b, row, 0)
	return append(dst, "\n\n"...)
}

func (*eventFormat) undo(dst []byte, v VoidRows) []byte { return appendEvent(dst, "undo", v) }

func (*eventFormat) done(dst []byte, r ReplacedRows) []byte { return appendEvent(dst, "done", r) }

func (*eventFormat) boundary(dst []byte, t StreamTime) []byte { return appendEvent(dst, "boundary", t) }

func (*eventFormat) gap(dst []byte, g LostRows) []byte { return appendEvent(dst, "gap", g) }

func appendEvent(dst []byte, name string, v any) []byte {
	dst = append(append(append(dst, "event: "...), name...), "\ndata: "...)
	return append(appendJSON(dst, v), "\n\n"...)
}

func (*eventFormat) beat(dst []byte) []byte { return append(dst, ": alive\n\n"...) }

func (*eventFormat) end(dst []byte) []byte { return append(dst, "event: end\ndata: {}\n\n"...) }

// lineFormat is JSON lines. Nothing but rows, and what was asked for, stands among them, but a gap: rows are not lost in
// silence.
type lineFormat struct{ rowEncoder }

func (*lineFormat) contentType() string { return jsonLines }

func (f *lineFormat) row(dst []byte, b *tuple.Batch, row int, id TupleID) []byte {
	return append(f.rows.AppendTail(dst, b, row, id.ID), '\n')
}

func (f *lineFormat) tentative(dst []byte, b *tuple.Batch, row int) []byte {
	return append(f.rows.AppendTail(dst, b, row, 0), '\n')
}

func (*lineFormat) undo(dst []byte, v VoidRows) []byte { return appendLine(dst, "undo", v) }

func (*lineFormat) done(dst []byte, r ReplacedRows) []byte { return appendLine(dst, "done", r) }

func (*lineFormat) boundary(dst []byte, t StreamTime) []byte {
	return appendLine(dst, "boundary", t)
}

func (*lineFormat) gap(dst []byte, g LostRows) []byte {
	return appendLine(dst, "gap", g)
}

func (*lineFormat) beat(dst []byte) []byte { return dst }

func (*lineFormat) end(dst []byte) []byte { return dst }

func appendLine(dst []byte, name string, v any) []byte {
	dst = append(append(append(dst, `{"`...), name...), `":`...)
	return append(appendJSON(dst, v), "}\n"...)
}
