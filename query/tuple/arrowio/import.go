package arrowio

import (
	"errors"
	"fmt"

	"fednode/query/tuple"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// RowError says that a value of a record cannot be had in the declared type; the batch holds a null there.
type RowError struct {
	Row    int
	Column string
	Reason string
}

// Importer turns the records of one Arrow schema into batches of a tuple schema. Columns are found by name; columns of
// the record that the tuple schema lacks are skipped. Strings and addresses are interned into one growing dictionary a
// column, so codes keep their meaning from batch to batch whatever the records' own dictionaries do.
type Importer struct {
	schema *tuple.Schema
	stime  bool // the record's first column holds the stimes
	cols   []*importColumn
}

// importColumn converts one column; it keeps what it knows of the dictionary seen last.
type importColumn struct {
	name  string
	place int // in the record
	to    tuple.Type
	conv  converter
	elem  *importColumn // of a list

	dict   *tuple.DictBuilder
	source arrow.ArrayData // the Arrow dictionary that remap is for
	remap  []uint32        // code here of each code there
	same   bool            // remap is the identity
	bad    []badValue
	text   bool // binary values come as text
}

type badValue struct {
	row    int
	reason string
}

// converter fills out from arr. What it cannot convert it reports with fail, which leaves a null.
type converter func(c *importColumn, arr arrow.Array, out *tuple.Column) error

// NewImporter returns an importer, or an error naming every column that is missing or of a type that does not convert.
func NewImporter(from *arrow.Schema, to *tuple.Schema) (*Importer, error) {
	im := &Importer{schema: to, stime: from.NumFields() > 0 && isStime(from.Field(0))}
	var errs []error
	for _, f := range to.Fields() {
		c, err := findColumn(from, f, im.stime)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		im.cols = append(im.cols, c)
	}
	if to.Len() == 0 {
		errs = append(errs, errors.New("no columns declared"))
	}
	if len(errs) > 0 {
		return nil, fmt.Errorf("arrow: %w", errors.Join(errs...))
	}
	return im, nil
}

func findColumn(from *arrow.Schema, f tuple.Field, hasStime bool) (*importColumn, error) {
	for i, af := range from.Fields() {
		if af.Name != f.Name || i == 0 && hasStime {
			continue
		}
		c, err := newImportColumn(f.Name, af.Type, f.Type)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		c.place = i
		return c, nil
	}
	return nil, fmt.Errorf("no column %q; there are %s", f.Name, fieldNames(from))
}

func fieldNames(s *arrow.Schema) string {
	names := ""
	for i, f := range s.Fields() {
		if i > 0 {
			names += ", "
		}
		if i == 20 {
			return names + "and others"
		}
		names += f.Name
	}
	return names
}

func newImportColumn(name string, from arrow.DataType, to tuple.Type) (*importColumn, error) {
	c := &importColumn{name: name, to: to, text: isText(valueType(from).ID())}
	if to.Kind.IsBinary() {
		c.dict = tuple.NewDictBuilder()
	}
	if c.conv = chooseConverter(from, to); c.conv == nil {
		return nil, fmt.Errorf("the Arrow type %v does not convert to %v", from, to)
	}
	if to.Kind == tuple.List {
		elem, err := newImportColumn(name, from.(arrow.ListLikeType).Elem(), to.ElemType())
		if err != nil {
			return nil, err
		}
		c.elem = elem
	}
	return c, nil
}

// Batch converts a record. The batch is owned; its Time holds the record's stimes, or zeros for the caller to fill where
// the record has none. Values that do not convert are nulls and listed. An error means that the record is malformed.
func (im *Importer) Batch(rec arrow.RecordBatch) (b *tuple.Batch, bad []RowError, err error) {
	err = guard(func() error {
		b, bad, err = im.batch(rec)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return b, bad, nil
}

func (im *Importer) batch(rec arrow.RecordBatch) (*tuple.Batch, []RowError, error) {
	rows := int(rec.NumRows())
	b := &tuple.Batch{Schema: im.schema, Cols: make([]tuple.Column, im.schema.Len())}
	var bad []RowError
	for i, c := range im.cols {
		arr := rec.Column(c.place)
		if arr.Len() != rows {
			return nil, nil, fmt.Errorf("column %q: %d values for %d rows", c.name, arr.Len(), rows)
		}
		if err := c.convert(arr, &b.Cols[i]); err != nil {
			return nil, nil, fmt.Errorf("column %q: %w", c.name, err)
		}
		for _, v := range c.bad {
			bad = append(bad, RowError{Row: v.row, Column: c.name, Reason: v.reason})
		}
	}
	// Last: by now the columns have shown that the record really holds that many rows.
	if !im.stime {
		b.Time = make([]tuple.Time, rows)
		return b, bad, nil
	}
	ts, ok := rec.Column(0).(*array.Timestamp)
	if !ok || ts.NullN() > 0 || ts.Len() != rows {
		return nil, nil, errors.New("a row without stime")
	}
	b.Time = recast[tuple.Time](ts.Values())
	return b, bad, nil
}

func (c *importColumn) convert(arr arrow.Array, out *tuple.Column) error {
	if e, ok := arr.(array.ExtensionArray); ok {
		arr = e.Storage()
	}
	out.Type = c.to
	c.bad = c.bad[:0]
	n := arr.Len()
	if arr.NullN() > 0 && n > 0 {
		arr.IsValid(n - 1) // panics, before anything is allocated for them, if the rows are not there
		out.Valid = make([]bool, arr.Len())
		for i := range out.Valid {
			out.Valid[i] = arr.IsValid(i)
		}
	}
	return c.conv(c, arr, out)
}

// fail makes row a null with a reason.
func (c *importColumn) fail(out *tuple.Column, row int, rows int, reason string) {
	if out.Valid == nil {
		out.Valid = make([]bool, rows)
		for i := range out.Valid {
			out.Valid[i] = true
		}
	}
	out.Valid[row] = false
	c.bad = append(c.bad, badValue{row: row, reason: reason})
}
