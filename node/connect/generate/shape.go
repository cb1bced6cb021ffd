package generate

import (
	"fmt"

	"fednode/node/connect"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// field is one field of a kind of record.
type field struct {
	name string
	typ  tuple.Type
}

// shape says which fields of a kind become which columns of a stream.
type shape struct {
	kind    kind
	columns []int // for each column of the stream the field's index
}

// kind is one kind of record: its fields, and what makes its rows.
type kind struct {
	name   string
	fields []field
	maker  func(c *Config) maker
}

// maker makes the values of rows. It belongs to one goroutine.
type maker interface {
	// row sets the values of row i, whose random bits are h; t is its event time.
	row(i int64, h uint64, t tuple.Time, v *values)
}

// values are the values of one row, by field: numbers (also of timestamps and decimals), floats, and the codes of texts
// and addresses in the maker's dictionaries; which counts depends on the field's type.
type values struct {
	ints   [maxFields]int64
	floats [maxFields]float64
	null   [maxFields]bool
}

const maxFields = 8

func kinds() []kind {
	ip, text, num := tuple.Of(tuple.IP), tuple.Of(tuple.String), tuple.Of(tuple.Int64)
	ts := field{"ts", tuple.Of(tuple.Timestamp)}
	return []kind{
		{"connections", []field{ts, {"src", ip}, {"dst", ip}, {"sport", num}, {"dport", num}, {"proto", text}, {"bytes", num}, {"packets", num}},
			func(c *Config) maker { return newConnections(c) }},
		{"sensors", []field{ts, {"station", text}, {"pm10", tuple.DecimalType(2)}, {"pm25", tuple.DecimalType(2)}, {"temperature", tuple.Of(tuple.Float64)}},
			func(c *Config) maker { return &sensors{} }},
		{"bids", []field{ts, {"auction", num}, {"bidder", num}, {"price", tuple.DecimalType(2)}, {"channel", text}},
			func(c *Config) maker { return &bids{} }},
	}
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// bind finds the columns of a stream among the fields of a kind.
func bind(name string, s *connect.Stream) (*shape, []*connect.ColumnError) {
	for _, k := range kinds() {
		if k.name == name {
			return k.bind(s)
		}
	}
	return nil, []*connect.ColumnError{{Msg: fmt.Sprintf("no generator `%s`", name), Hint: spec.DidYouMean(name, kindNames())}}
}

func (k kind) bind(s *connect.Stream) (*shape, []*connect.ColumnError) {
	sh := &shape{kind: k, columns: make([]int, len(s.Columns))}
	var errs []*connect.ColumnError
	var names []string
	for _, f := range k.fields {
		names = append(names, f.name)
	}
	for i := range s.Columns {
		c := &s.Columns[i]
		sh.columns[i] = -1
		for j, f := range k.fields {
			if f.name == c.Source() {
				sh.columns[i] = j
			}
		}
		switch j := sh.columns[i]; {
		case j < 0:
			errs = append(errs, &connect.ColumnError{Column: c.Name, Key: "field", Msg: fmt.Sprintf("the generator %s has no field `%s`", k.name, c.Source()), Hint: spec.DidYouMean(c.Source(), names)})
		case k.fields[j].typ != c.Type:
			errs = append(errs, &connect.ColumnError{Column: c.Name, Key: "type", Msg: fmt.Sprintf("the field `%s` of the generator %s is %v, not %v", c.Source(), k.name, k.fields[j].typ, c.Type)})
		}
	}
	return sh, errs
}
