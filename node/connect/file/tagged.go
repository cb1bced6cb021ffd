package file

import (
	"context"
	"fmt"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// The columns that a tagged file has before those of the stream.
const (
	stateColumn = "_state"
	stimeColumn = "_stime"
)

// The states of its rows, as codes of the state column.
const (
	stateStable uint32 = iota
	stateTentative
	stateUndo
	stateDone
)

var stateNames = [...]string{"stable", "tentative", "undo", "done"}

// tagger puts before each row what it is, and when.
type tagger struct {
	schema *tuple.Schema
	names  *tuple.Dict
	marks  *tuple.BatchBuilder
	// Used again for each batch.
	codes [2][]uint32
	times []int64
}

func newTagger(s *tuple.Schema) (*tagger, error) {
	fields := []tuple.Field{{Name: stateColumn, Type: tuple.Of(tuple.String)}, {Name: stimeColumn, Type: tuple.Of(tuple.Timestamp)}}
	for i := range s.Len() {
		fields = append(fields, s.Field(i))
	}
	schema, err := tuple.NewSchema(fields...)
	if err != nil {
		return nil, fmt.Errorf("tentative = \"tag\" needs the names %s and %s for itself: %w; rename the column", stateColumn, stimeColumn, err)
	}
	names := tuple.NewDictBuilder()
	for _, name := range stateNames {
		names.Intern([]byte(name))
	}
	return &tagger{schema: schema, names: names.Dict(), marks: tuple.NewBatchBuilder(schema)}, nil
}

// rows returns a batch with the state of its rows, which are all stable or all tentative. It is valid until the next call.
func (t *tagger) rows(b *tuple.Batch, state uint32) *tuple.Batch {
	n := len(b.Time)
	for len(t.codes[state]) < n {
		t.codes[state] = append(t.codes[state], state)
	}
	t.times = t.times[:0]
	for _, at := range b.Time {
		t.times = append(t.times, int64(at))
	}
	cols := make([]tuple.Column, 0, len(b.Cols)+2)
	cols = append(cols,
		tuple.Column{Type: t.schema.Field(0).Type, Code: t.codes[state][:n], Dict: t.names},
		tuple.Column{Type: t.schema.Field(1).Type, Int: t.times})
	return &tuple.Batch{Schema: t.schema, Time: b.Time, Cols: append(cols, b.Cols...), Sel: b.Sel}
}

// mark returns a row that says what became of tentative rows; MinTime and MaxTime leave its time empty: all are meant.
func (t *tagger) mark(state uint32, at tuple.Time) *tuple.Batch {
	t.marks.AppendBin(0, []byte(stateNames[state]))
	if at == tuple.MinTime || at == tuple.MaxTime {
		t.marks.AppendNull(1)
	} else {
		t.marks.AppendInt(1, int64(at))
	}
	for i := 2; i < t.schema.Len(); i++ {
		t.marks.AppendNull(i)
	}
	t.marks.EndRow(at)
	return t.marks.Take()
}

// taggedSink is a sink whose rows say whether they are stable or tentative, with rows among them that say which tentative
// ones are void or have been replaced.
type taggedSink struct {
	// inner writes the tagged rows.
	inner rowSink
	tag   *tagger
	// wrong is why nothing can be written.
	wrong error
	// open: there may be tentative rows that nothing has been said about.
	open bool
}

var _ connect.TaggingSink = (*taggedSink)(nil)

// Recover goes on where the last commit ended.
func (s *taggedSink) Recover(ctx context.Context, state []byte) (tuple.Position, error) {
	if s.wrong != nil {
		return tuple.Position{}, fmt.Errorf("file: %w", s.wrong)
	}
	pos, err := s.inner.Recover(ctx, state)
	s.open = state != nil && s.inner.begun()
	return pos, err
}

// Write takes stable rows.
func (s *taggedSink) Write(ctx context.Context, rows connect.SinkRows) error {
	rows.Batch = s.tag.rows(rows.Batch, stateStable)
	return s.inner.Write(ctx, rows)
}

// WriteTentative takes tentative rows.
func (s *taggedSink) WriteTentative(ctx context.Context, b *tuple.Batch) error {
	s.open = true
	return s.inner.Write(ctx, connect.SinkRows{Batch: s.tag.rows(b, stateTentative)})
}

// Undo voids the tentative rows from a stime on.
func (s *taggedSink) Undo(ctx context.Context, t tuple.Time) error {
	return s.mark(ctx, stateUndo, t, t == tuple.MinTime)
}

// Done says that the tentative rows before a stime have been replaced.
func (s *taggedSink) Done(ctx context.Context, t tuple.Time) error {
	return s.mark(ctx, stateDone, t, t == tuple.MaxTime)
}

func (s *taggedSink) mark(ctx context.Context, state uint32, t tuple.Time, all bool) error {
	if !s.open {
		return nil
	}
	s.open = !all
	return s.inner.Write(ctx, connect.SinkRows{Batch: s.tag.mark(state, t)})
}

// Commit makes durable what was written.
func (s *taggedSink) Commit(ctx context.Context, pos tuple.Position) ([]byte, error) {
	return s.inner.Commit(ctx, pos)
}

// Finish ends a bounded result.
func (s *taggedSink) Finish(ctx context.Context) error { return s.inner.Finish(ctx) }

// Close frees what the sink holds.
func (s *taggedSink) Close() error {
	if s.wrong != nil {
		return nil
	}
	return s.inner.Close()
}
