package flow

import (
	"context"
	"fmt"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// Project returns a cursor that gives the columns of want, by name, of what another cursor delivers. A nil want takes
// everything as it comes. A column that is missing, or of another type or form, is a *RefusedError at the first rows.
func Project(c Cursor, stream string, want *tuple.Schema) Cursor {
	if want == nil {
		return c
	}
	return &projected{Cursor: c, stream: stream, want: want}
}

type projected struct {
	Cursor
	stream string
	want   *tuple.Schema
	have   *tuple.Schema // that from belongs to
	from   []int         // of each wanted column; nil if both schemas are the same
}

// Next returns the next frame with the wanted columns.
func (p *projected) Next(ctx context.Context) (*tuple.Frame, error) {
	f, err := p.Cursor.Next(ctx)
	if err != nil || f.Batch == nil {
		return f, err
	}
	if p.have != f.Batch.Schema {
		if p.from, err = mapping(p.stream, f.Batch.Schema, p.want); err != nil {
			return nil, err
		}
		p.have = f.Batch.Schema
	}
	out := *f
	out.Batch = &tuple.Batch{Schema: p.want, Time: f.Batch.Time, Cols: f.Batch.Cols, Sel: f.Batch.Sel, Ordered: f.Batch.Ordered}
	if p.from != nil {
		out.Batch.Cols = make([]tuple.Column, len(p.from))
		for i, at := range p.from {
			out.Batch.Cols[i] = f.Batch.Cols[at]
		}
	}
	return &out, nil
}

// mapping returns where each wanted column is, nil if the schemas are the same.
func mapping(stream string, have, want *tuple.Schema) ([]int, error) {
	if have.Equal(want) {
		return nil, nil
	}
	from := make([]int, want.Len())
	for i, f := range want.Fields() {
		at, ok := have.Index(f.Name)
		if !ok {
			return nil, &RefusedError{Stream: stream, Reason: fmt.Sprintf("it has no column `%s`; %s", f.Name, spec.DidYouMean(f.Name, have.Names()))}
		}
		if got := have.Field(at); got.Type != f.Type {
			return nil, &RefusedError{Stream: stream, Reason: fmt.Sprintf("its column `%s` is %v; the query declares %v", f.Name, got.Type, f.Type)}
		} else if got.Form != f.Form || got.Key != f.Key {
			return nil, &RefusedError{Stream: stream, Reason: fmt.Sprintf("its column `%s` comes %s; the query declares it %s", f.Name, formText(got), formText(f))}
		}
		from[i] = at
	}
	return from, nil
}

func formText(f tuple.Field) string {
	if f.Key == "" {
		return f.Form.String()
	}
	return f.Form.String() + " under key " + f.Key
}
