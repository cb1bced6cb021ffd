package format

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
	"fednode/query/tuple/arrowio"
)

// arrowImport turns records into batches of a stream: columns of the types that Arrow has are taken over, others are
// read from their text (a timestamp with a layout) or number (a timestamp with a unit).
type arrowImport struct {
	stream *connect.Stream
	im     *arrowio.Importer
	source []int    // for each column the importer's column; -1: a place
	reread []column // for each column how its values are read; parsePlace: they are taken as they are
	names  map[string]string
}

func newArrowImport(from *arrow.Schema, s *connect.Stream, file string) (*arrowImport, error) {
	a := &arrowImport{stream: s, source: make([]int, len(s.Columns)), reread: make([]column, len(s.Columns)), names: make(map[string]string)}
	var fields []tuple.Field
	index := make(map[string]int)
	for i := range s.Columns {
		c := &s.Columns[i]
		a.source[i], a.reread[i].parse = -1, parsePlace
		switch {
		case c.Field == connect.FieldFile || c.Field == connect.FieldLine || c.Field == connect.FieldOffset:
			continue
		case len(c.From) > 0:
			return nil, fmt.Errorf("%s: column `%s`: `from` is for text formats; a column of Arrow or Parquet is one field", file, c.Name)
		}
		name := c.Source()
		typ, reread, err := arrowColumn(from, c, file)
		if err != nil {
			return nil, err
		}
		if reread {
			a.reread[i].init(c, &Options{Format: CSV})
		}
		p, seen := index[name]
		if seen && fields[p].Type != typ {
			return nil, fmt.Errorf("%s: column `%s`: the field %q is already read as %v", file, c.Name, name, fields[p].Type)
		}
		if !seen {
			p = len(fields)
			index[name] = p
			fields = append(fields, tuple.Field{Name: name, Type: typ})
			a.names[name] = c.Name
		}
		a.source[i] = p
	}
	schema, err := tuple.NewSchema(fields...)
	if err == nil {
		a.im, err = arrowio.NewImporter(from, schema)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return a, nil
}

// arrowColumn chooses the type that a field is imported as, and whether its values must then be read.
func arrowColumn(from *arrow.Schema, c *connect.ColumnSpec, file string) (typ tuple.Type, reread bool, err error) {
	name := c.Source()
	if !from.HasField(name) {
		names := make([]string, 0, from.NumFields())
		for _, f := range from.Fields() {
			names = append(names, f.Name)
		}
		return typ, false, &HeaderError{file, c.Name, name, spec.DidYouMean(name, names)}
	}
	candidates := []tuple.Type{c.Type}
	if c.Layout != "" || c.Unit != "" {
		candidates = nil // as declared: the field is text, or a number
	}
	if c.Type.Kind == tuple.Timestamp || c.Type.Kind == tuple.Duration {
		candidates = append(candidates, tuple.Of(tuple.Int64))
	}
	candidates = append(candidates, tuple.Of(tuple.String))
	if c.Unit != "" {
		candidates = append(candidates, c.Type)
	}
	var first error
	for _, t := range candidates {
		if _, err := arrowio.NewImporter(from, tuple.MustSchema(tuple.Field{Name: name, Type: t})); err == nil {
			return t, t != c.Type, nil
		} else if first == nil {
			first = err
		}
	}
	return typ, false, fmt.Errorf("%s: column `%s`: %w", file, c.Name, first)
}

// batch converts a record; the values it cannot have are nulls, and listed by the importer's names of the fields.
func (a *arrowImport) batch(rec arrow.RecordBatch) (*tuple.Batch, []arrowio.RowError, error) {
	in, bad, err := a.im.Batch(rec)
	if err != nil {
		return nil, nil, err
	}
	out := &tuple.Batch{Schema: a.stream.Schema, Time: make([]tuple.Time, in.Rows()), Cols: make([]tuple.Column, len(a.source))}
	for i, p := range a.source {
		switch {
		case p < 0:
			out.Cols[i].Type = a.stream.Columns[i].Type
		case a.reread[i].parse == parsePlace:
			out.Cols[i] = in.Cols[p]
		default:
			bad = a.read(i, &in.Cols[p], &out.Cols[i], bad)
		}
	}
	for i, p := range a.source {
		if p < 0 {
			blank(&out.Cols[i], in.Rows())
		}
	}
	return out, bad, nil
}

// read reads the text of every value of a column.
func (a *arrowImport) read(i int, in, out *tuple.Column, bad []arrowio.RowError) []arrowio.RowError {
	c := &a.reread[i]
	c.start(in.Rows())
	var text []byte
	for row := range in.Rows() {
		if in.IsNull(row) {
			c.appendNull()
			continue
		}
		if in.Type.Kind == tuple.Int64 {
			text = strconv.AppendInt(text[:0], in.Int[row], 10)
		} else {
			text = in.Bin(row)
		}
		if reason := c.appendText(text); reason != connect.OK {
			bad = append(bad, arrowio.RowError{Row: row, Column: a.stream.Columns[i].Source(), Reason: c.describe(text, reason)})
			c.appendNull()
		}
	}
	c.take(out)
	return bad
}

func blank(c *tuple.Column, rows int) {
	if c.Type.Kind == tuple.Int64 {
		c.Int = make([]int64, rows)
		return
	}
	c.Code = make([]uint32, rows)
}

// places fills the columns that are a place; Arrow has no lines, so a row's number stands for both.
func (a *arrowImport) places(b *tuple.Batch, file string, row int64) {
	for i := range a.source {
		c := &b.Cols[i]
		switch a.stream.Columns[i].Field {
		case connect.FieldFile:
			c.Dict = tuple.NewDict([]uint32{0, uint32(len(file))}, []byte(file), true)
		case connect.FieldLine:
			for k := range c.Int {
				c.Int[k] = row + int64(k) + 1
			}
		case connect.FieldOffset:
			for k := range c.Int {
				c.Int[k] = row + int64(k)
			}
		}
	}
}

// column returns the name of the column that an imported field is read for.
func (a *arrowImport) column(field string) string { return a.names[field] }
