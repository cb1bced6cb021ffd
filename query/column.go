package query

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"fednode/query/spec"
	"fednode/query/tuple"
)

// readColumns reads [streams.NAME.columns] and returns the fields that are right; the mapping goes to s.Columns.
func (b *builder) readColumns(s *Stream, r *spec.Reader) []tuple.Field {
	t := r.Table("columns", false)
	if t == nil {
		return nil
	}
	if len(t.Entries) == 0 {
		r.Errorf("columns", "", "the stream has no columns")
	}
	var fields []tuple.Field
	for _, e := range t.Entries {
		t.Lookup(e.Key)
		f, c, ok := b.readColumn(t, e)
		if e.Key == "" {
			b.p.Add(e.Pos, t.Path, "", "a column has no name")
			continue
		}
		if ok {
			fields = append(fields, f)
			s.Columns = append(s.Columns, c)
		}
	}
	if len(fields) < len(t.Entries) {
		return nil // an expression on a column that is wrong would only repeat the error
	}
	return fields
}

// readColumn reads name = "type" or name = { type = … }.
func (b *builder) readColumn(t *spec.Table, e *spec.Entry) (tuple.Field, Column, bool) {
	f, c := tuple.Field{Name: e.Key}, Column{Name: e.Key, Field: e.Key}
	if strings.ContainsFunc(e.Key, unicode.IsControl) {
		b.p.Add(e.Value.Pos, "streams.columns", "give it another name and say field = …", "the name of the column %q has control characters", e.Key)
		return f, c, false
	}
	switch e.Value.Kind {
	case spec.String:
		ok := parseType(b.p, e.Value.Pos, t.KeyPath(e.Key), e.Value.Str, &f.Type)
		return f, c, ok
	case spec.TableKind:
		before := len(b.p.Errors)
		r := spec.Read(e.Value.Table, b.p)
		readMapping(r, &f, &c)
		r.Done()
		return f, c, len(b.p.Errors) == before
	}
	b.p.Add(e.Value.Pos, t.KeyPath(e.Key), "write "+e.Key+" = \"int64\", or a table with type and field",
		"expected a type or a table, got %s", e.Value.Kind)
	return f, c, false
}

// parseType reads a column type.
func parseType(p *spec.Problems, pos spec.Pos, path, text string, dst *tuple.Type) bool {
	t, err := tuple.ParseType(text)
	if err != nil {
		p.Add(pos, path, typeHint(text), "`%s` is not a type", text)
		return false
	}
	*dst = t
	return true
}

// typeHint says what a text that is no type may have been meant to be.
func typeHint(text string) string {
	if strings.Contains(text, "decimal") {
		return fmt.Sprintf("a decimal has 18 digits, of which 0 to %d stand behind the point: decimal(2)", tuple.MaxScale)
	}
	return spec.DidYouMean(text, []string{"bool", "int64", "float64", "decimal(2)", "string", "bytes", "timestamp",
		"duration", "ip", "cidr", "list(string)"})
}

// readMapping reads the table form of a column: its type and how a record's fields make it.
func readMapping(r *spec.Reader, f *tuple.Field, c *Column) {
	name := r.String("type", "")
	from := r.Strings("from", false)
	switch {
	case r.T.Has("type"):
		if v := r.T.Lookup("type").Value; v.Kind == spec.String {
			parseType(r.P, v.Pos, r.T.KeyPath("type"), name, &f.Type)
		}
	case len(from) > 0:
		f.Type = tuple.Of(tuple.Timestamp)
	default:
		r.Errorf("type", "", "the column has no type")
	}
	c.Field = r.String("field", c.Name)
	if c.Field == "" {
		r.Errorf("field", "", "`field` is empty")
	}
	for _, v := range from {
		c.From = append(c.From, v.Str)
	}
	readTimeForm(r, f.Type.Kind, c)
	f.Form, f.Key = readForm(r)
}

// readTimeForm reads unit, layout, zone and from, and checks that they go together.
func readTimeForm(r *spec.Reader, k tuple.Kind, c *Column) {
	c.Unit = unitNanos(r.OneOf("unit", "", "s", "ms", "us", "ns"))
	c.Layout, c.Zone = r.String("layout", ""), r.String("zone", "")
	for _, key := range []string{"layout", "zone", "from"} {
		if r.T.Has(key) && k != tuple.Timestamp && k != tuple.Invalid {
			r.Errorf(key, "", "only a timestamp has `%s`", key)
		}
	}
	switch {
	case c.Unit != 0 && k != tuple.Timestamp && k != tuple.Duration && k != tuple.Invalid:
		r.Errorf("unit", "", "only a timestamp or a duration has a `unit`")
	case c.Unit != 0 && (c.Layout != "" || c.Zone != "" || len(c.From) > 0):
		r.Errorf("unit", "", "a time with a `unit` is a number since 1970 in UTC; it has no layout, zone or parts")
	case len(c.From) > 0 && r.T.Has("field"):
		r.Errorf("field", "", "give either `field` or `from`")
	case r.T.Has("from") && c.Layout == "" && (len(c.From) < 3 || len(c.From) > 6):
		r.Errorf("from", "or give a `layout` for their texts joined by spaces", "expected the fields of year, month, day and, optionally, hour, minute, second")
	}
	if c.Layout != "" && !validLayout(c.Layout) {
		r.Errorf("layout", `write the reference time, as in "2006-01-02 15:04:05"`, "`%s` gives no year, month and day", c.Layout)
	}
	if c.Zone != "" {
		if _, err := time.LoadLocation(c.Zone); err != nil || c.Zone == "Local" {
			r.Errorf("zone", `expected a name such as "Europe/Madrid" or "UTC"`, "there is no time zone `%s`", c.Zone)
		}
	}
}

// validLayout reports whether a layout tells days apart.
func validLayout(layout string) bool {
	a := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC).Format(layout)
	for _, other := range []time.Time{
		time.Date(2012, 2, 3, 4, 5, 6, 0, time.UTC), time.Date(2001, 11, 3, 4, 5, 6, 0, time.UTC), time.Date(2001, 2, 14, 4, 5, 6, 0, time.UTC),
	} {
		if other.Format(layout) == a {
			return false
		}
	}
	return true
}

// unitNanos returns the nanoseconds of a unit of time, 0 for none.
func unitNanos(unit string) int64 {
	switch unit {
	case "s":
		return 1e9
	case "ms":
		return 1e6
	case "us":
		return 1e3
	case "ns":
		return 1
	}
	return 0
}

// readForm reads how an export changed the values of a foreign column.
func readForm(r *spec.Reader) (tuple.Form, string) {
	var names []string
	for f := tuple.Plain; f <= tuple.PrefixPseudonym; f++ {
		names = append(names, f.String())
	}
	name := r.OneOf("form", tuple.Plain.String(), names...)
	key := r.String("key", "")
	form := tuple.Plain
	for f := tuple.Plain; f <= tuple.PrefixPseudonym; f++ {
		if f.String() == name {
			form = f
		}
	}
	if key != "" && form != tuple.Pseudonym && form != tuple.PrefixPseudonym {
		r.Errorf("key", "", "only a pseudonym has a key")
	}
	return form, strings.TrimSpace(key)
}
