package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// target is the table that a sink writes.
type target struct {
	tableName
	columns []column
	key     []string
}

func (t *target) names() []string {
	out := make([]string, len(t.columns))
	for i, c := range t.columns {
		out[i] = c.name
	}
	return out
}

// resolve returns the table of the declaration with its schema.
func (c *sinkConfig) resolve(ctx context.Context, tx pgx.Tx) (tableName, error) {
	if c.schema != "" {
		return tableName{c.schema, c.table}, nil
	}
	// Where the search path finds it; else where it would be created.
	var schema *string
	if err := tx.QueryRow(ctx, `SELECT coalesce((SELECT n.nspname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.oid = to_regclass($1)), current_schema()::text)`, quote(c.table)).Scan(&schema); err != nil {
		return tableName{}, err
	}
	if schema == nil {
		return tableName{}, lasting("the search path of this user names no schema; write table = \"SCHEMA.%s\"", c.table)
	}
	return tableName{*schema, c.table}, nil
}

// exists reports whether there is a table of that name.
func (t tableName) exists(ctx context.Context, tx pgx.Tx) (ok bool, err error) {
	err = tx.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", t.sql()).Scan(&ok)
	return ok, err
}

// shape says which columns the table has, and of which types; "" if there is none.
func (t tableName) shape(ctx context.Context, tx pgx.Tx) (text string, err error) {
	err = tx.QueryRow(ctx, `SELECT coalesce(string_agg(quote_ident(attname) || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum), '')
		FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, t.sql()).Scan(&text)
	return text, err
}

// create creates the table.
func (t *target) create(ctx context.Context, tx pgx.Tx) error {
	var parts []string
	for _, c := range t.columns {
		parts = append(parts, quote(c.name)+" "+typeName(c.typ))
	}
	if len(t.key) > 0 {
		parts = append(parts, "PRIMARY KEY ("+list("", t.key)+")")
	}
	_, err := tx.Exec(ctx, "CREATE TABLE "+t.sql()+" ("+strings.Join(parts, ", ")+")")
	return err
}

// found is a column of a table that is there.
type found struct {
	typ string
	// filled: a row that does not name the column has a value in it, or may have none.
	filled, computed bool
}

// check says at once what about a table that is there does not fit what is to be written.
func (t *target) check(ctx context.Context, tx pgx.Tx) error {
	wrong, err := t.wrongKind(ctx, tx)
	if err != nil {
		return err
	}
	has, err := t.found(ctx, tx)
	if err != nil {
		return err
	}
	wrong = append(wrong, t.wrongColumns(has)...)
	if len(t.key) > 0 {
		missing, err := t.wrongKey(ctx, tx)
		if err != nil {
			return err
		}
		wrong = append(wrong, missing...)
	}
	if len(wrong) == 0 {
		return nil
	}
	return lasting("the table %s does not fit the output; nothing has been written: %s", t.tableName, strings.Join(wrong, "; "))
}

func (t *target) wrongKind(ctx context.Context, tx pgx.Tx) ([]string, error) {
	var kind, persistence string
	err := tx.QueryRow(ctx, "SELECT relkind::text, relpersistence::text FROM pg_class WHERE oid = to_regclass($1)", t.sql()).Scan(&kind, &persistence)
	switch {
	case err != nil:
		return nil, err
	case kind != "r" && kind != "p":
		return []string{"it is a view or the like, expected a table"}, nil
	case persistence != "p":
		return []string{fmt.Sprintf("it is unlogged, so that a crash of the database would empty it, expected one that lasts (ALTER TABLE %s SET LOGGED)", t.sql())}, nil
	}
	return nil, nil
}

func (t *target) found(ctx context.Context, tx pgx.Tx) (map[string]found, error) {
	rows, err := tx.Query(ctx, `SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull OR atthasdef OR attidentity <> '',
		attgenerated <> '' OR attidentity = 'a' FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`, t.sql())
	if err != nil {
		return nil, err
	}
	out := make(map[string]found)
	var name string
	var f found
	_, err = pgx.ForEachRow(rows, []any{&name, &f.typ, &f.filled, &f.computed}, func() error { out[name] = f; return nil })
	return out, err
}

func (t *target) wrongColumns(has map[string]found) (wrong []string) {
	for _, c := range t.columns {
		f, ok := has[c.name]
		switch want := typeName(c.typ); {
		case !ok:
			wrong = append(wrong, fmt.Sprintf("it has no column `%s`, expected %s (ALTER TABLE %s ADD COLUMN %s %s)", c.name, want, t.sql(), quote(c.name), want))
		case f.computed:
			wrong = append(wrong, fmt.Sprintf("the database computes the column `%s`, expected one that can be written", c.name))
		case !holds(f.typ, c.typ):
			wrong = append(wrong, fmt.Sprintf("the column `%s` is %s, expected %s (ALTER TABLE %s ALTER COLUMN %s TYPE %s)", c.name, f.typ, want, t.sql(), quote(c.name), want))
		}
		delete(has, c.name)
	}
	for _, name := range sorted(has) {
		if !has[name].filled {
			wrong = append(wrong, fmt.Sprintf("the output has no `%s`, which must have a value (ALTER TABLE %s ALTER COLUMN %s SET DEFAULT …)", name, t.sql(), quote(name)))
		}
	}
	return wrong
}

func sorted(m map[string]found) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// wrongKey says whether a unique index on the columns of the key is missing: only by one can a row replace another.
func (t *target) wrongKey(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT array(SELECT a.attname::text FROM unnest(i.indkey[0:i.indnkeyatts-1]) WITH ORDINALITY k (attnum, n)
		JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum) FROM pg_index i
		WHERE i.indrelid = to_regclass($1) AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL`, t.sql())
	if err != nil {
		return nil, err
	}
	have, err := pgx.CollectRows(rows, pgx.RowTo[[]string])
	if err != nil {
		return nil, err
	}
	want := slices.Sorted(slices.Values(t.key))
	for _, columns := range have {
		if slices.Sort(columns); slices.Equal(columns, want) {
			return nil, nil
		}
	}
	return []string{fmt.Sprintf("it has no unique index on exactly the key %s (ALTER TABLE %s ADD UNIQUE (%s))", strings.Join(t.key, ", "), t.sql(), list("", t.key))}, nil
}

var errGone = errors.New("gone")

// prepare creates the table if it is to be, and checks it. old: rows have been written to it before, so that a missing one
// is not to be replaced by an empty one.
func (t *target) prepare(ctx context.Context, tx pgx.Tx, create, old bool) error {
	there, err := t.exists(ctx, tx)
	switch {
	case err != nil:
		return err
	case there:
		return t.check(ctx, tx)
	case old:
		return errGone
	case !create:
		return lasting("there is no table %s, and create = false; create it, or leave create out", t.tableName)
	}
	return t.create(ctx, tx)
}
