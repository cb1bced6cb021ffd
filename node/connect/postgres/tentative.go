package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"

	"fednode/query/tuple"
)

var errOmitted = errors.New("the output is declared without tentative rows")

// WriteTentative takes tentative rows.
func (s *sink) WriteTentative(ctx context.Context, b *tuple.Batch) error {
	return s.fail(s.writeTentative(ctx, b))
}

func (s *sink) writeTentative(ctx context.Context, b *tuple.Batch) error {
	if s.tentative == tentativeOmit {
		return errOmitted
	}
	tx, err := s.transaction(ctx)
	if err == nil {
		err = s.within(ctx, func(ctx context.Context) error { return s.settle(ctx, tx) })
	}
	if err != nil {
		return err
	}
	s.open = true
	r := s.reader(b, stateTentative, func(int) string { return "a tentative row" })
	return r.each(ctx, tx, func(b *pgx.Batch, row []any, stime tuple.Time) {
		for _, text := range s.found {
			b.Queue(text, s.keyOf(row)...)
		}
		b.Queue(s.stable, row...)
		s.seq++
		b.Queue(s.remember, append(slices.Clone(row), s.seq, int64(stime))...)
	})
}

// Undo voids the tentative rows from a stime on.
func (s *sink) Undo(ctx context.Context, t tuple.Time) error {
	if !s.open {
		return nil
	}
	ctx, cancel := s.limit(ctx)
	defer cancel()
	tx, err := s.transaction(ctx)
	if err == nil {
		err = s.settle(ctx, tx)
	}
	if err == nil {
		err = s.undo.settle(ctx, tx, undoTime+" >= $1", int64(t))
	}
	s.open = s.open && (err != nil || t != tuple.MinTime)
	return s.fail(err)
}

// Done says that the tentative rows before a stime have been replaced. Word of it comes with each boundary of a long
// correction, and what was said last holds for what was said before: so it is carried out before the next tentative row or
// commit.
func (s *sink) Done(_ context.Context, t tuple.Time) error {
	if s.open {
		s.done = max(s.done, t)
	}
	return nil
}

// settle carries out what Done has said.
func (s *sink) settle(ctx context.Context, tx pgx.Tx) error {
	t := s.done
	if s.done = tuple.MinTime; t == tuple.MinTime {
		return nil
	}
	if t == tuple.MaxTime {
		s.open = false
		return s.undo.settle(ctx, tx, "true")
	}
	return s.undo.settle(ctx, tx, undoTime+" < $1", int64(t))
}
