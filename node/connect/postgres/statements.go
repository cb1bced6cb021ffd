package postgres

import (
	"fmt"
	"slices"
	"strings"
)

// statements are those that write a row by its key. Their parameters are the values of all columns, if nothing else is said.
type statements struct {
	// stable puts a row at its key; held does so where the key may have tentative rows.
	stable, held string
	// found remembers what the stable rows leave at a key, before its first tentative row. Parameters are those of the key.
	found []string
	// remember takes a tentative row; its number and its stime are the last parameters.
	remember string
	// keyAt says where the columns of the key stand among all.
	keyAt []int
}

// typed is a parameter of a statement; n counts from 0.
func typed(n int, c column) string { return fmt.Sprintf("$%d::%s", n+1, typeName(c.typ)) }

func statementsOf(t *target) statements {
	names := t.names()
	var out statements
	var values, set, match, keyValues []string
	for i, c := range t.columns {
		values = append(values, typed(i, c))
		if !slices.Contains(t.key, c.name) {
			set = append(set, quote(c.name)+" = "+typed(i, c))
		}
	}
	keyed := make([]string, len(t.key)) // the key by the parameters of all columns
	for i, k := range t.key {
		at := slices.Index(names, k)
		out.keyAt = append(out.keyAt, at)
		keyed[i] = quote(k) + " = " + typed(at, t.columns[at])
		match = append(match, quote(k)+" = "+typed(i, t.columns[at]))
		keyValues = append(keyValues, typed(i, t.columns[at]))
	}
	side, all, vals, onKey := t.undo().sql(), list("", names), strings.Join(values, ", "), put(names, t.key)
	insert := "INSERT INTO " + t.sql() + " (" + all + ") "
	out.stable = insert + "VALUES (" + vals + ")" + onKey
	// A key with tentative rows goes on showing the last of them; what is remembered of it is the new row.
	out.held = "WITH held AS (UPDATE " + side + " SET " + strings.Join(append(set, undoExists+" = true"), ", ") + " WHERE " + strings.Join(keyed, " AND ") +
		" AND " + undoSeq + " = 0 RETURNING 1) " + insert + "SELECT " + vals + " WHERE NOT EXISTS (SELECT FROM held)" + onKey
	out.found = []string{
		"INSERT INTO " + side + " (" + undoSeq + ", " + all + ") SELECT 0, " + all + " FROM " + t.sql() + " WHERE " + strings.Join(match, " AND ") + " ON CONFLICT DO NOTHING",
		"INSERT INTO " + side + " (" + undoSeq + ", " + undoExists + ", " + list("", t.key) + ") VALUES (0, false, " + strings.Join(keyValues, ", ") + ") ON CONFLICT DO NOTHING",
	}
	out.remember = fmt.Sprintf("INSERT INTO %s (%s, %s, %s) VALUES (%s, $%d, $%d)", side, all, undoSeq, undoTime, vals, len(names)+1, len(names)+2)
	return out
}

// keyOf picks the values of the key out of a row.
func (s *statements) keyOf(row []any) []any {
	out := make([]any, len(s.keyAt))
	for i, at := range s.keyAt {
		out[i] = row[at]
	}
	return out
}
