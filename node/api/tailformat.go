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

// tailFormat is how a tail looks on the wire.
type tailFormat interface {
	contentType() string
	// schema is called before the rows of a batch.
	schema(s *tuple.Schema)
	row(dst []byte, b *tuple.Batch, row int, id TupleID) []byte
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

func (*eventFormat) boundary(dst []byte, t StreamTime) []byte {
	return append(appendJSON(append(dst, "event: boundary\ndata: "...), t), "\n\n"...)
}

func (*eventFormat) gap(dst []byte, g LostRows) []byte {
	return append(appendJSON(append(dst, "event: gap\ndata: "...), g), "\n\n"...)
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

func (*lineFormat) boundary(dst []byte, t StreamTime) []byte {
	return append(appendJSON(append(dst, `{"boundary":`...), t), "}\n"...)
}

func (*lineFormat) gap(dst []byte, g LostRows) []byte {
	return append(appendJSON(append(dst, `{"gap":`...), g), "}\n"...)
}

func (*lineFormat) beat(dst []byte) []byte { return dst }

func (*lineFormat) end(dst []byte) []byte { return dst }
