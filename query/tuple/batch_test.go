package tuple_test

import (
	"math"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/tupletest"

	"github.com/stretchr/testify/require"
)

// Slices, clones and gathered copies hold the rows that they say.
func TestSliceCloneGather(t *testing.T) {
	for seed := range uint64(200) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		b := tupletest.Batches(r, s, 1, 40, 100)[0]
		require.NoError(t, b.Check())
		lines := tupletest.Lines(b)
		lo := r.IntN(b.Rows() + 1)
		hi := lo + r.IntN(b.Rows()-lo+1)
		view := b.Slice(lo, hi)
		require.NoError(t, view.Check())
		require.Equal(t, lines[lo:hi], tupletest.Lines(view), "seed %d", seed)
		clone := view.Clone()
		require.NoError(t, clone.Check())
		require.Nil(t, clone.Sel)
		require.Equal(t, lines[lo:hi], tupletest.Lines(clone))
		require.Equal(t, tupletest.Hash(view), tupletest.Hash(clone))
	}
}

// A clone shares no memory that an operator may reuse.
func TestCloneIsOwned(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
	b := tuple.NewBatchBuilder(s)
	b.AppendInt(0, 1)
	b.EndRow(5)
	got := b.Take()
	clone := got.Clone()
	got.Time[0], got.Cols[0].Int[0] = 9, 9
	require.Equal(t, tuple.Time(5), clone.Time[0])
	require.Equal(t, int64(1), clone.Cols[0].Int[0])
}

// Gathering batch after batch into one column gives all rows, across dictionary snapshots of one lineage.
func TestGatherAppends(t *testing.T) {
	for seed := range uint64(100) {
		r := tupletest.Source(seed)
		for _, typ := range tupletest.Types() {
			s := tuple.MustSchema(tuple.Field{Name: "c", Type: typ})
			bb := tuple.NewBatchBuilder(s)
			var batches []*tuple.Batch
			for range 3 {
				for range r.IntN(6) {
					tupletest.Row(r, bb)
					bb.EndRow(0)
				}
				batches = append(batches, bb.Take())
			}
			all := &tuple.Batch{Schema: s, Cols: []tuple.Column{{Type: typ}}}
			for _, b := range batches {
				b.Cols[0].Gather(&all.Cols[0], nil)
				all.Time = append(all.Time, b.Time...)
			}
			require.NoError(t, all.Check(), "%v", typ)
			require.Equal(t, tupletest.Lines(batches...), tupletest.Lines(all), "%v", typ)
		}
	}
}

// A row that turns out unusable half way leaves no trace, whatever columns it had reached.
func TestUndo(t *testing.T) {
	for seed := range uint64(200) {
		r := tupletest.Source(seed)
		s := tupletest.Schema(r)
		bb := tuple.NewBatchBuilder(s)
		want := tuple.NewBatchBuilder(s)
		for i := range 20 {
			mark := tupletest.Source(uint64(i) + 1000*seed)
			tupletest.Row(mark, bb)
			if r.IntN(3) == 0 {
				bb.Undo()
				continue
			}
			bb.EndRow(tuple.Time(i))
			tupletest.Row(tupletest.Source(uint64(i)+1000*seed), want)
			want.EndRow(tuple.Time(i))
		}
		// A row cut short after some of its columns.
		bb.AppendNull(0)
		bb.Undo()
		require.Equal(t, want.Rows(), bb.Rows())
		got := bb.Take()
		require.NoError(t, got.Check())
		require.Equal(t, tupletest.Lines(want.Take()), tupletest.Lines(got), "seed %d", seed)
	}
}

func TestBuilderKeepsLineageUntilFull(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)})
	b := tuple.NewBatchBuilder(s)
	take := func(v string) *tuple.Dict {
		b.AppendBin(0, []byte(v))
		b.EndRow(0)
		return b.Take().Cols[0].Dict
	}
	first, second := take("a"), take("b")
	require.Same(t, first.Lineage(), second.Lineage())
	full := take(string(make([]byte, tuple.DictMaxBytes)))
	require.Same(t, first.Lineage(), full.Lineage())
	require.NotSame(t, first.Lineage(), take("c").Lineage())
}

// Check finds every inconsistency that a batch from outside may have.
func TestCheckFinds(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "l", Type: tuple.ListOf(tuple.Of(tuple.Int64))},
		tuple.Field{Name: "ip", Type: tuple.Of(tuple.IP)})
	fresh := func() *tuple.Batch {
		b := tuple.NewBatchBuilder(s)
		for range 2 {
			b.AppendBin(0, []byte("x"))
			b.Col(1).Elem.Int = append(b.Col(1).Elem.Int, 4)
			b.EndList(1)
			b.AppendBin(2, make([]byte, 16))
			b.EndRow(1)
		}
		return b.Take()
	}
	require.NoError(t, fresh().Check())
	for name, damage := range map[string]func(b *tuple.Batch){
		"columns":           func(b *tuple.Batch) { b.Cols = b.Cols[:2] },
		"type":              func(b *tuple.Batch) { b.Cols[0].Type = tuple.Of(tuple.Bytes) },
		"length":            func(b *tuple.Batch) { b.Cols[0].Code = b.Cols[0].Code[:1] },
		"validity":          func(b *tuple.Batch) { b.Cols[0].Valid = []bool{true} },
		"code":              func(b *tuple.Batch) { b.Cols[0].Code[1] = 1 },
		"no dictionary":     func(b *tuple.Batch) { b.Cols[0].Dict = nil },
		"address width":     func(b *tuple.Batch) { b.Cols[2].Dict = b.Cols[0].Dict },
		"falling offsets":   func(b *tuple.Batch) { b.Cols[1].Off[1] = 3 },
		"offset beyond":     func(b *tuple.Batch) { b.Cols[1].Off[2] = 9 },
		"element type":      func(b *tuple.Batch) { b.Cols[1].Elem.Type = tuple.Of(tuple.Bool) },
		"no elements":       func(b *tuple.Batch) { b.Cols[1].Elem = nil },
		"selection beyond":  func(b *tuple.Batch) { b.Sel = []uint32{2} },
		"too few stimes":    func(b *tuple.Batch) { b.Time = b.Time[:1] },
		"element validity":  func(b *tuple.Batch) { b.Cols[1].Elem.Valid = []bool{true} },
		"elements too few ": func(b *tuple.Batch) { b.Cols[1].Elem.Int = b.Cols[1].Elem.Int[:1] },
	} {
		b := fresh()
		damage(b)
		require.Error(t, b.Check(), name)
	}
}

// Null rows of binary columns may have no dictionary at all.
func TestAllNull(t *testing.T) {
	s := tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)})
	b := tuple.NewBatchBuilder(s)
	b.AppendNull(0)
	b.EndRow(1)
	got := b.Take()
	require.NoError(t, got.Check())
	require.True(t, got.Cols[0].IsNull(0))
	got.Cols[0].Dict = nil
	require.NoError(t, got.Check())
	require.Empty(t, got.Cols[0].AppendText(nil, 0))
	require.Equal(t, 0, got.Cols[0].Compare(0, &got.Cols[0], 0))
}

// Compare is an order, and rows that compare equal hash alike, whatever their encoding.
func TestCompareAndHash(t *testing.T) {
	for seed := range uint64(60) {
		r := tupletest.Source(seed)
		for _, typ := range tupletest.Types() {
			s := tuple.MustSchema(tuple.Field{Name: "c", Type: typ})
			bb := tuple.NewBatchBuilder(s)
			for range 12 {
				tupletest.Row(r, bb)
				bb.EndRow(0)
			}
			a := bb.Take().Cols[0]
			b := a
			if typ.Kind.IsBinary() {
				b = tupletest.Plain(&a)
			}
			for i := range 12 {
				for j := range 12 {
					c := a.Compare(i, &b, j)
					require.Equal(t, sign(c), -sign(b.Compare(j, &a, i)), "%v: not antisymmetric", typ)
					require.Equal(t, c == 0, a.HashInto(1, i) == b.HashInto(1, j), "%v: hash against compare", typ)
					for k := range 12 {
						if c <= 0 && b.Compare(j, &a, k) <= 0 {
							require.LessOrEqual(t, a.Compare(i, &a, k), 0, "%v: not transitive", typ)
						}
					}
				}
			}
		}
	}
}

func sign(v int) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// -Inf < numbers < +Inf < NaN; NaN equals NaN, -0 equals +0, and equal floats group alike.
func TestFloatOrder(t *testing.T) {
	negZero := math.Copysign(0, -1)
	order := []float64{math.Inf(-1), -math.MaxFloat64, -1, 0, 5e-324, 1, math.MaxFloat64, math.Inf(1), math.NaN()}
	for i, a := range order {
		for j, b := range order {
			require.Equal(t, sign(i-j), sign(tuple.CompareFloat(a, b)), "%v %v", a, b)
		}
	}
	require.Zero(t, tuple.CompareFloat(negZero, 0))
	require.Equal(t, tuple.FloatBits(0), tuple.FloatBits(negZero))
	other := math.Float64frombits(math.Float64bits(math.NaN()) ^ 0xFFF)
	require.Equal(t, tuple.FloatBits(math.NaN()), tuple.FloatBits(other))
}
