package api

import "fednode/query/tuple"

// eventLineFormat is JSON lines of which each says what it is: stable, tentative, undo, done, gap or boundary.
type eventLineFormat struct{ rowEncoder }

func (*eventLineFormat) contentType() string { return jsonLines }

func (f *eventLineFormat) row(dst []byte, b *tuple.Batch, row int, id TupleID) []byte {
	return append(f.rows.AppendEvent(dst, "stable", b, row, id.ID), '\n')
}

func (f *eventLineFormat) tentative(dst []byte, b *tuple.Batch, row int) []byte {
	return append(f.rows.AppendEvent(dst, "tentative", b, row, 0), '\n')
}

func (*eventLineFormat) undo(dst []byte, v VoidRows) []byte {
	return appendJSONLine(dst, undoEvent{"undo", v})
}

func (*eventLineFormat) done(dst []byte, r ReplacedRows) []byte {
	return appendJSONLine(dst, doneEvent{"done", r})
}

func (*eventLineFormat) boundary(dst []byte, t StreamTime) []byte {
	return appendJSONLine(dst, boundaryEvent{"boundary", t})
}

func (*eventLineFormat) gap(dst []byte, g LostRows) []byte {
	return appendJSONLine(dst, gapEvent{"gap", g})
}

func (*eventLineFormat) beat(dst []byte) []byte { return dst }

func (*eventLineFormat) end(dst []byte) []byte { return dst }

// The lines that are no rows.
type (
	undoEvent struct {
		Event string `json:"event"`
		VoidRows
	}
	doneEvent struct {
		Event string `json:"event"`
		ReplacedRows
	}
	gapEvent struct {
		Event string `json:"event"`
		LostRows
	}
	boundaryEvent struct {
		Event string     `json:"event"`
		Stime StreamTime `json:"stime"`
	}
)

func appendJSONLine(dst []byte, v any) []byte { return append(appendJSON(dst, v), '\n') }
