package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/testnet/sim/topology"
)

var numberSchema = tuple.MustSchema(tuple.Field{Name: "v", Type: tuple.Of(tuple.Int64)})

// numbersFrom returns rows that carry values, each at ten times its value.
func numbersFrom(generation, first uint64, values ...int64) *tuple.Frame {
	b := tuple.NewBatchBuilder(numberSchema)
	for _, v := range values {
		b.AppendInt(0, v)
		b.EndRow(tuple.Time(10 * v))
	}
	return &tuple.Frame{Kind: tuple.Insertion, Generation: generation, FirstID: first, LastID: first + uint64(len(values)) - 1, Batch: b.Take()}
}

// What a GAP names may be missing behind it, and rows from the last boundary on may come again; everything else has to come, in
// order.
func TestLosses(t *testing.T) {
	s := topology.Default()
	begin := func() *losses {
		l := newLosses(&s, &reference{results: []*tuple.Frame{numbersFrom(1, 1, 1, 2, 3, 4), numbersFrom(1, 5, 5, 6, 7, 8, 9)}})
		require.NoError(t, l.rows(numbersFrom(1, 1, 1, 2, 3)))
		_, missing := l.missing(40)
		require.False(t, missing)
		return l
	}
	gap := &tuple.Frame{Kind: tuple.Gap, Generation: 9, Time: 40, To: 60}

	l := begin()
	l.gap(gap, 20)
	require.NoError(t, l.rows(numbersFrom(9, 1, 2, 3, 6)), "again, then behind the gap")
	require.NoError(t, l.rows(numbersFrom(9, 4, 7, 8)))
	id, missing := l.missing(100)
	require.True(t, missing)
	require.EqualValues(t, 9, id)
	l.restart(tuple.Position{Generation: 9, ID: 3, Time: 60})
	require.NoError(t, l.rows(numbersFrom(9, 4, 7, 8, 9)), "the client has stored less than it took")

	l = begin()
	require.ErrorContains(t, l.rows(numbersFrom(9, 1, 6)), "no GAP names that")
	l = begin()
	l.gap(gap, 30)
	require.ErrorContains(t, l.rows(numbersFrom(9, 1, 7)), "no GAP names that", "the gap ends before 6")
	l = begin()
	l.gap(gap, 30)
	require.NoError(t, l.rows(numbersFrom(9, 1, 5)), "something of the stretch may come")
	require.ErrorContains(t, l.rows(numbersFrom(9, 2, 10)), "no GAP names that")
	l = begin()
	require.NoError(t, l.rows(numbersFrom(1, 4, 4, 5, 6, 7, 8, 9)))
	require.ErrorContains(t, l.rows(numbersFrom(1, 10, 10)), "does not exist")
}
