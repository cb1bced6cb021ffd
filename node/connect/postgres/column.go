package postgres

import (
	"fmt"

	"fednode/query/tuple"
)

// columnTypes says which type of PostgreSQL holds the values of each of ours; %d is a scale. Those of a list are arrays.
var columnTypes = map[tuple.Kind]string{
	tuple.Bool:      "boolean",
	tuple.Int64:     "bigint",
	tuple.Float64:   "double precision",
	tuple.Decimal:   "numeric(19,%d)",
	tuple.String:    "text",
	tuple.Bytes:     "bytea",
	tuple.Timestamp: "timestamp with time zone",
	tuple.Duration:  "interval",
	tuple.IP:        "inet",
	tuple.CIDR:      "cidr",
}

// typeName returns the type of PostgreSQL for a type of ours.
func typeName(t tuple.Type) string {
	if t.Kind == tuple.List {
		return typeName(t.ElemType()) + "[]"
	}
	if t.Kind == tuple.Decimal {
		return fmt.Sprintf(columnTypes[t.Kind], t.Scale)
	}
	return columnTypes[t.Kind]
}

// holds reports whether a column of the type that PostgreSQL names so can take every value of t as it is.
func holds(name string, t tuple.Type) bool {
	if name == typeName(t) {
		return true
	}
	switch t.Kind {
	case tuple.String:
		return name == "character varying"
	case tuple.Decimal:
		var precision, scale int
		if n, _ := fmt.Sscanf(name, "numeric(%d,%d)", &precision, &scale); n == 2 {
			return scale >= int(t.Scale) && precision-scale >= 19-int(t.Scale)
		}
		return name == "numeric"
	case tuple.List:
		return t.Elem == tuple.String && name == "character varying[]" || t.Elem == tuple.Decimal && name == "numeric[]"
	case tuple.CIDR:
		return name == "inet"
	}
	return false
}

// column is a column of the target that the sink writes.
type column struct {
	name string
	// typ is what we write, Timestamp and String for those of tag.
	typ tuple.Type
}

// columns returns those of the stream, and those of tag behind them.
func (c *sinkConfig) columns() []column {
	var out []column
	for i := range c.stream.Schema.Len() {
		f := c.stream.Schema.Field(i)
		out = append(out, column{f.Name, f.Type})
	}
	if c.tentative == tentativeTag {
		out = append(out, column{stateColumn, tuple.Of(tuple.String)}, column{stimeColumn, tuple.Of(tuple.Timestamp)})
	}
	return out
}
