package postgres

import (
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// Names that the sink keeps for itself.
const (
	positionsTable = "fednode_positions"
	undoSuffix     = "_fednode_tentative"
	ownPrefix      = "fednode_"
)

// tableName is a table with its schema.
type tableName struct{ schema, table string }

// String prints the name for people.
func (t tableName) String() string { return t.schema + "." + t.table }

// sql is the name in a statement.
func (t tableName) sql() string { return pgx.Identifier{t.schema, t.table}.Sanitize() }

// beside returns another table of the same schema.
func (t tableName) beside(table string) tableName { return tableName{t.schema, table} }

// undo is where the tentative rows of the table are remembered.
func (t tableName) undo() tableName { return t.beside(t.table + undoSuffix) }

func parseTable(s string) (tableName, bool) {
	i := strings.LastIndexByte(s, '.') // a schema may have a dot in it, a table of ours has none
	if i < 0 {
		return tableName{}, false
	}
	return tableName{s[:i], s[i+1:]}, true
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }

// list writes names for a statement, each behind a prefix such as "t.".
func list(prefix string, names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = prefix + quote(n)
	}
	return strings.Join(out, ", ")
}

// same says that two rows have one key.
func same(a, b string, key []string) string {
	out := make([]string, len(key))
	for i, k := range key {
		out[i] = a + "." + quote(k) + " = " + b + "." + quote(k)
	}
	return strings.Join(out, " AND ")
}

// put ends an INSERT of columns so that it replaces a row of the same key.
func put(columns, key []string) string {
	var set []string
	for _, c := range columns {
		if !slices.Contains(key, c) {
			set = append(set, quote(c)+" = EXCLUDED."+quote(c))
		}
	}
	if len(set) == 0 {
		return " ON CONFLICT (" + list("", key) + ") DO NOTHING"
	}
	return " ON CONFLICT (" + list("", key) + ") DO UPDATE SET " + strings.Join(set, ", ")
}
