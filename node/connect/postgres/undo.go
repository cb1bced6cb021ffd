package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// The columns of a table of tentative rows, before those of its target. A row with the number 0 is what the stable rows
// leave at its key; those with higher numbers are tentative, in the order in which they came.
const (
	undoSeq    = "fednode_seq"
	undoTime   = "fednode_stime"  // stime of a tentative row
	undoExists = "fednode_exists" // of row 0: the stable rows leave a row at the key
	undoGone   = "fednode_gone"   // within a transaction: the row is void or replaced
)

// undo remembers the tentative rows of a target.
type undo struct {
	target, table tableName
	columns, key  []string
}

// create creates the table.
func (u *undo) create(ctx context.Context, tx pgx.Tx, columns []column) error {
	parts := []string{undoSeq + " bigint NOT NULL", undoTime + " bigint NOT NULL DEFAULT 0", undoExists + " boolean NOT NULL DEFAULT true", undoGone + " boolean NOT NULL DEFAULT false"}
	for _, c := range columns {
		parts = append(parts, quote(c.name)+" "+typeName(c.typ))
	}
	for _, text := range []string{
		"CREATE TABLE " + u.table.sql() + " (" + strings.Join(parts, ", ") + ", PRIMARY KEY (" + list("", u.key) + ", " + undoSeq + "))",
		"CREATE INDEX ON " + u.table.sql() + " (" + undoTime + ") WHERE " + undoSeq + " > 0",
		"CREATE INDEX ON " + u.table.sql() + " (" + list("", u.key) + ") WHERE " + undoGone,
	} {
		if _, err := tx.Exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// left returns what a life before has left for a target; nil if there is nothing. It is read from the table itself, whose
// query may have had other columns and another key.
func left(ctx context.Context, tx pgx.Tx, target tableName) (*undo, error) {
	u := &undo{target: target, table: target.undo()}
	if there, err := u.table.exists(ctx, tx); err != nil || !there {
		return nil, err
	}
	rows, err := tx.Query(ctx, `SELECT a.attname::text, a.attnum = ANY (i.indkey::int2[]) FROM pg_attribute a JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
		WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, u.table.sql())
	if err != nil {
		return nil, err
	}
	var name string
	var inKey bool
	_, err = pgx.ForEachRow(rows, []any{&name, &inKey}, func() error {
		if strings.HasPrefix(name, ownPrefix) {
			return nil
		}
		u.columns = append(u.columns, name)
		if inKey {
			u.key = append(u.key, name)
		}
		return nil
	})
	return u, err
}

// voidLeft voids what a life before has left, and takes the table away: the next may need another.
func voidLeft(ctx context.Context, tx pgx.Tx, target tableName) error {
	u, err := left(ctx, tx, target)
	if u == nil || err != nil {
		return err
	}
	there, err := target.exists(ctx, tx)
	if err != nil {
		return err
	}
	if there { // else its rows have gone with it
		if err := u.settle(ctx, tx, "true"); err != nil {
			return fmt.Errorf("tentative rows left in %s: %w; mend the table, or drop %s and with it what is known of them", target, err, u.table)
		}
	}
	_, err = tx.Exec(ctx, "DROP TABLE "+u.table.sql())
	return err
}

// settle ends the tentative rows that a condition names, and shows at their keys what is left: the last other tentative
// row, or else what the stable rows leave.
func (u *undo) settle(ctx context.Context, tx pgx.Tx, condition string, args ...any) error {
	tag, err := tx.Exec(ctx, "UPDATE "+u.table.sql()+" SET "+undoGone+" = true WHERE "+undoSeq+" > 0 AND "+condition, args...)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	b := &pgx.Batch{}
	for _, text := range u.settling() {
		b.Queue(text)
	}
	return tx.SendBatch(ctx, b).Close()
}

func (u *undo) settling() []string {
	t, side, key, all := u.target.sql(), u.table.sql(), list("", u.key), list("", u.columns)
	gone := "EXISTS (SELECT FROM " + side + " g WHERE g." + undoGone + " AND " + same("g", "u", u.key) + ")"
	ended := gone + " AND NOT EXISTS (SELECT FROM " + side + " l WHERE l." + undoSeq + " > 0 AND NOT l." + undoGone + " AND " + same("l", "u", u.key) + ")"
	return []string{
		// Keys with tentative rows left show the last of them.
		"INSERT INTO " + t + " (" + all + ") SELECT DISTINCT ON (" + key + ") " + all + " FROM " + side + " u WHERE " + undoSeq + " > 0 AND NOT " + undoGone + " AND " + gone +
			" ORDER BY " + key + ", " + undoSeq + " DESC" + put(u.columns, u.key),
		// The others show what the stable rows leave: a row, or none.
		"INSERT INTO " + t + " (" + all + ") SELECT " + all + " FROM " + side + " u WHERE " + undoSeq + " = 0 AND " + undoExists + " AND " + ended + put(u.columns, u.key),
		"DELETE FROM " + t + " t USING " + side + " u WHERE " + same("t", "u", u.key) + " AND u." + undoSeq + " = 0 AND NOT u." + undoExists + " AND " + ended,
		"DELETE FROM " + side + " u WHERE " + undoSeq + " = 0 AND " + ended,
		"DELETE FROM " + side + " WHERE " + undoGone,
	}
}
