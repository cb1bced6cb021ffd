package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"fednode/query/tuple"
)

// The values of the column _state, as in a tagged file.
const (
	stateStable    = "stable"
	stateTentative = "tentative"
)

// reader turns the rows of a batch into values of the target's columns.
type reader struct {
	values
	target *target
	tag    bool
	state  string
	b      *tuple.Batch
	id     func(i int) string // names the i-th row
	row    []any
	// within bounds a round trip.
	within func(ctx context.Context, do func(ctx context.Context) error) error
}

// read returns the values of the i-th row; they are good until the next call.
func (r *reader) read(i int) ([]any, error) {
	r.row = r.row[:0]
	at := r.b.Row(i)
	for c := range r.b.Cols {
		v, err := r.of(&r.b.Cols[c], at)
		if err == nil && v == nil && slices.Contains(r.target.key, r.target.columns[c].name) {
			err = errNull
		}
		if err != nil {
			return nil, lasting("%s, column `%s` %w", r.id(i), r.target.columns[c].name, err)
		}
		r.row = append(r.row, v)
	}
	if r.tag {
		stime, err := timestamp(int64(r.b.Time[at]))
		if err != nil {
			return nil, lasting("%s: its stime %w", r.id(i), err)
		}
		r.row = append(r.row, r.state, stime)
	}
	return r.row, nil
}

// copy appends all rows. A row that cannot be read ends the statement: the database then says only that it was ended, so
// why is remembered here.
func (r *reader) copy(ctx context.Context, tx pgx.Tx) error {
	i, unfit := 0, error(nil)
	_, err := tx.CopyFrom(ctx, pgx.Identifier{r.target.schema, r.target.table}, r.target.names(), pgx.CopyFromFunc(func() ([]any, error) {
		if i == r.b.Rows() {
			return nil, nil
		}
		i++
		var row []any
		row, unfit = r.read(i - 1)
		return row, unfit
	}))
	if unfit != nil {
		return unfit
	}
	return err
}

// pipeline is how many rows are sent before their answers are read.
const pipeline = 500

// each sends all rows, a few statements a row. Each round trip has its own bound: a batch of many rows takes longer.
func (r *reader) each(ctx context.Context, tx pgx.Tx, queue func(b *pgx.Batch, row []any, stime tuple.Time)) error {
	for from := 0; from < r.b.Rows(); from += pipeline {
		b := &pgx.Batch{}
		for i := from; i < min(from+pipeline, r.b.Rows()); i++ {
			row, err := r.read(i)
			if err != nil {
				return err
			}
			queue(b, slices.Clone(row), r.b.Time[r.b.Row(i)])
		}
		if err := r.within(ctx, func(ctx context.Context) error { return tx.SendBatch(ctx, b).Close() }); err != nil {
			return err
		}
	}
	return nil
}

// stableID names rows by generation and id.
func stableID(generation, first uint64, ids []uint64) func(int) string {
	return func(i int) string {
		id := first + uint64(i)
		if ids != nil {
			id = ids[i]
		}
		return fmt.Sprintf("row %d:%d", generation, id)
	}
}
