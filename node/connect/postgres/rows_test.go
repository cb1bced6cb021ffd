package postgres

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// answering is a transaction that takes all batches.
type answering struct {
	pgx.Tx
	batches []int
}

func (a *answering) SendBatch(_ context.Context, b *pgx.Batch) pgx.BatchResults {
	a.batches = append(a.batches, b.Len())
	return answered{}
}

type answered struct{ pgx.BatchResults }

func (answered) Close() error { return nil }

// What a write may take is counted for each round trip: one of many rows to a slow database ends as well.
func TestEachRoundTripIsBounded(t *testing.T) {
	schema := tuple.MustSchema(tuple.Field{Name: "k", Type: tuple.Of(tuple.Int64)})
	b := tuple.NewBatchBuilder(schema)
	const rows = 2*pipeline + 1
	for i := range int64(rows) {
		b.AppendInt(0, i)
		b.EndRow(0)
	}
	bounded := 0
	r := &reader{
		target: &target{columns: []column{{"k", tuple.Of(tuple.Int64)}}}, b: b.Take(),
		within: func(ctx context.Context, do func(context.Context) error) error { bounded++; return do(ctx) },
	}
	var tx answering
	require.NoError(t, r.each(t.Context(), &tx, func(b *pgx.Batch, row []any, _ tuple.Time) { b.Queue("put", row...) }))
	require.Equal(t, []int{pipeline, pipeline, 1}, tx.batches)
	require.Equal(t, len(tx.batches), bounded)
}
