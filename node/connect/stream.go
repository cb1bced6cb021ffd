package connect

import (
	"fmt"
	"strings"
	"time"

	"fednode/query/tuple"
)

// ColumnSpec declares how one column of a stream is read from a record.
type ColumnSpec struct {
	Name string
	Type tuple.Type
	// Field is the name in the record, if it is not Name: a CSV header or its position counted from 1, a JSON key or
	// dotted path; "@file", "@line" and "@offset" are the place of the record.
	Field string
	// Unit of a timestamp or duration that is written as a number: "s", "ms", "us" or "ns"; "" if it is text.
	Unit string
	// Layout of a timestamp that is not RFC 3339, in the notation of package time: "2006-01-02 15:04:05".
	Layout string
	// Zone is the time zone of text without an offset: "UTC", "Europe/Berlin".
	Zone string
	// From names several fields that make one timestamp together: joined by a space and read by Layout, or, without
	// one, as numbers: year, month, day, hour, minute, second, as many as there are.
	From []string
}

// Source returns the name of the field that the column is read from; "" if it is made of several.
func (c *ColumnSpec) Source() string {
	switch {
	case len(c.From) > 0:
		return ""
	case c.Field != "":
		return c.Field
	}
	return c.Name
}

// The fields that are the place of a record.
const (
	FieldFile   = "@file"
	FieldLine   = "@line"
	FieldOffset = "@offset"
)

// Stream is the shape of what a source delivers. It is checked by NewStream and not changed afterwards.
type Stream struct {
	Name    string
	Columns []ColumnSpec
	Schema  *tuple.Schema
	// TimeColumn is the index of the column that holds the event time; -1 if the stream's time is its arrival.
	TimeColumn int
}

// ColumnError is something wrong with the declaration of one column.
type ColumnError struct {
	Column string
	Key    string // "type", "unit", "layout", "zone", "from", "field", or "" for the column as a whole
	Msg    string
	Hint   string
}

// Error prints the column, the key and what is wrong.
func (e *ColumnError) Error() string {
	s := "column " + e.Column
	if e.Key != "" {
		s += "." + e.Key
	}
	s += ": " + e.Msg
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// NewStream checks the columns and returns the stream; timeColumn "" means arrival time. Every problem is returned, and
// the stream only if there is none.
func NewStream(name string, columns []ColumnSpec, timeColumn string) (*Stream, []*ColumnError) {
	s := &Stream{Name: name, Columns: columns, TimeColumn: -1}
	var errs []*ColumnError
	fields := make([]tuple.Field, len(columns))
	for i := range columns {
		c := &columns[i]
		fields[i] = tuple.Field{Name: c.Name, Type: c.Type}
		errs = append(errs, c.check()...)
		if c.Name == timeColumn && timeColumn != "" {
			s.TimeColumn = i
			if c.Type.Kind != tuple.Timestamp {
				errs = append(errs, &ColumnError{c.Name, "type", fmt.Sprintf("the time of a stream is a timestamp, got %v", c.Type), ""})
			}
		}
	}
	if timeColumn != "" && s.TimeColumn < 0 {
		errs = append(errs, &ColumnError{timeColumn, "", "the stream's time names a column that is not declared", ""})
	}
	if len(columns) == 0 {
		errs = append(errs, &ColumnError{"", "", "a stream needs at least one column", ""})
	}
	if len(errs) > 0 {
		return nil, errs
	}
	schema, err := tuple.NewSchema(fields...)
	if err != nil {
		return nil, []*ColumnError{{"", "", err.Error(), ""}}
	}
	s.Schema = schema
	return s, nil
}

func (c *ColumnSpec) check() (errs []*ColumnError) {
	bad := func(key, hint, format string, args ...any) {
		errs = append(errs, &ColumnError{c.Name, key, fmt.Sprintf(format, args...), hint})
	}
	kind := c.Type.Kind
	if kind == tuple.List {
		kind = c.Type.Elem
	}
	if c.Unit != "" {
		if _, ok := UnitMicros(c.Unit); !ok {
			bad("unit", "", "`%s` is not a unit; expected s, ms, us or ns", c.Unit)
		}
		if kind != tuple.Timestamp && kind != tuple.Duration {
			bad("unit", "", "only a timestamp or a duration has a unit, the type is %v", c.Type)
		}
	}
	if (c.Layout != "" || c.Zone != "" || len(c.From) > 0) && c.Type.Kind != tuple.Timestamp {
		bad("type", "", "layout, zone and from are for a timestamp, the type is %v", c.Type)
	}
	if c.Layout != "" && c.Unit != "" {
		bad("layout", "", "a timestamp is text with a layout or a number with a unit, not both")
	}
	if c.Layout != "" {
		if hint, ok := checkLayout(c.Layout); !ok {
			bad("layout", hint, "`%s` names no year, month or day in the notation 2006-01-02 15:04:05", c.Layout)
		}
	}
	if c.Zone != "" {
		if _, err := time.LoadLocation(c.Zone); err != nil || c.Zone == "Local" {
			bad("zone", "", "no time zone `%s`; expected a name such as UTC or Europe/Berlin", c.Zone)
		}
	}
	if len(c.From) > 0 && c.Field != "" {
		bad("from", "", "a column has `field` or `from`, not both")
	}
	if len(c.From) > 0 && c.Layout == "" && (len(c.From) < 3 || len(c.From) > 6) {
		bad("from", "", "without a layout, 3 to 6 fields are needed: year, month, day, hour, minute, second")
	}
	errs = append(errs, c.checkPlace()...)
	return errs
}

func (c *ColumnSpec) checkPlace() []*ColumnError {
	if !strings.HasPrefix(c.Field, "@") {
		return nil
	}
	want := tuple.Int64
	switch c.Field {
	case FieldFile:
		want = tuple.String
	case FieldLine, FieldOffset:
	default:
		return []*ColumnError{{c.Name, "field", fmt.Sprintf("no field `%s`; the fields of a place are @file, @line and @offset", c.Field), ""}}
	}
	if c.Type.Kind != want {
		return []*ColumnError{{c.Name, "type", fmt.Sprintf("%s is of type %v, not %v", c.Field, want, c.Type), ""}}
	}
	return nil
}

// checkLayout reports whether a layout names a date in the notation of package time; if it is written in another
// notation, hint is what was probably meant.
func checkLayout(layout string) (hint string, ok bool) {
	probe := time.Date(2006, 1, 2, 15, 4, 5, 0, time.UTC)
	other := time.Date(1987, 11, 23, 19, 48, 56, 0, time.UTC)
	if probe.Format(layout) != other.Format(layout) && strings.ContainsAny(layout, "0123456789") {
		return "", true
	}
	meant := strings.NewReplacer("YYYY", "2006", "yyyy", "2006", "%Y", "2006", "MM", "01", "%m", "01", "DD", "02", "dd", "02", "%d", "02",
		"HH", "15", "hh", "15", "%H", "15", "mm", "04", "%M", "04", "ss", "05", "SS", "05", "%S", "05").Replace(layout)
	if meant != layout {
		return "write it as `" + meant + "`", false
	}
	return "", false
}

// UnitMicros returns how a number of a unit becomes microseconds: times mul, then divided by div, rounded down.
func UnitMicros(unit string) (u Unit, ok bool) {
	switch unit {
	case "s":
		return Unit{Mul: 1_000_000, Div: 1}, true
	case "ms":
		return Unit{Mul: 1000, Div: 1}, true
	case "us":
		return Unit{Mul: 1, Div: 1}, true
	case "ns":
		return Unit{Mul: 1, Div: 1000}, true
	}
	return Unit{}, false
}

// Unit is the ratio of a unit to the microsecond, Mul/Div; one of the two is 1.
type Unit struct{ Mul, Div int64 }
