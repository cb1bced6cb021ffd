package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"fednode/node/connect"
	"fednode/query/tuple"
)

// setupLock is the advisory lock under which tables are created: two that find none would both create one.
const setupLock = 0x6665646e6f6465 // "fednode"

// createPositions creates the table of positions where there is none.
func createPositions(ctx context.Context, tx pgx.Tx, at tableName) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", int64(setupLock)); err != nil {
		return err
	}
	if there, err := at.exists(ctx, tx); err != nil || there {
		return err
	}
	_, err := tx.Exec(ctx, "CREATE TABLE "+at.sql()+` (
		sink text PRIMARY KEY, target text NOT NULL, tentative boolean NOT NULL, claim text NOT NULL, epoch bigint NOT NULL,
		generation numeric(20) NOT NULL, id numeric(20) NOT NULL, stime bigint NOT NULL, written timestamp with time zone NOT NULL DEFAULT now())`)
	return err
}

// positionRow is the row of one sink.
type positionRow struct {
	table tableName
	sink  string

	target    string
	tentative bool
	claim     string
	epoch     int64
	pos       tuple.Position
}

// load reads the row and locks it until the transaction ends; ok is false if there is none.
func (p *positionRow) load(ctx context.Context, tx pgx.Tx) (ok bool, err error) {
	var generation, id string
	var stime int64
	err = tx.QueryRow(ctx, "SELECT target, tentative, claim, epoch, generation::text, id::text, stime FROM "+p.table.sql()+" WHERE sink = $1 FOR UPDATE", p.sink).
		Scan(&p.target, &p.tentative, &p.claim, &p.epoch, &generation, &id, &stime)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	p.pos.Time = tuple.Time(stime)
	if p.pos.Generation, err = strconv.ParseUint(generation, 10, 64); err == nil {
		p.pos.ID, err = strconv.ParseUint(id, 10, 64)
	}
	if err != nil {
		return false, lasting("the row of %s in %s is damaged: %w", p.sink, p.table, err)
	}
	return true, nil
}

// store writes the row; it makes one if there is none.
func (p *positionRow) store(ctx context.Context, tx pgx.Tx) error {
	_, err := tx.Exec(ctx, "INSERT INTO "+p.table.sql()+` (sink, target, tentative, claim, epoch, generation, id, stime)
		VALUES ($1, $2, $3, $4, $5, $6::text::numeric, $7::text::numeric, $8) ON CONFLICT (sink) DO UPDATE SET target = EXCLUDED.target,
		tentative = EXCLUDED.tentative, claim = EXCLUDED.claim, epoch = EXCLUDED.epoch, generation = EXCLUDED.generation, id = EXCLUDED.id,
		stime = EXCLUDED.stime, written = now()`,
		p.sink, p.target, p.tentative, p.claim, p.epoch, strconv.FormatUint(p.pos.Generation, 10), strconv.FormatUint(p.pos.ID, 10), int64(p.pos.Time))
	return err
}

// alone fails if another sink writes the same table, and one of the two takes rows back.
func (p *positionRow) alone(ctx context.Context, tx pgx.Tx) error {
	var other string
	err := tx.QueryRow(ctx, "SELECT sink FROM "+p.table.sql()+" WHERE target = $1 AND sink <> $2 AND (tentative OR $3) LIMIT 1", p.target, p.sink, p.tentative).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return lasting("%s writes %s too, and with tentative rows a table has one writer; give each a table of its own, or delete the row of %s from %s if it is gone for good", other, p.target, other, p.table)
}

// missing says that the row is gone, up to which rows had been committed.
func (p *positionRow) missing() error {
	return lasting("%s has no row of %s, of which rows up to %v had been committed: it was deleted, the database was put back to what it had been before, or the output has been given another database or schema; put the row back, or stop the query and deploy it anew", p.table, p.sink, p.pos)
}

// replaced says that another writer has taken the sink's place.
func (p *positionRow) replaced(now string) error {
	return &connect.LastingError{Final: true, Err: fmt.Errorf("another writer has taken the place of %s (%s in %s): a second daemon with the same data directory or the same names? end the one of the two that is not wanted, and restart the other", p.sink, now, p.table)}
}
