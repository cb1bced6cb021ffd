package enginebench

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// Both sides give the same rows for every query, over windows that end within batches and with few sources and many.
func TestSidesAgree(t *testing.T) {
	for _, c := range []Config{
		{Seed: 1, Records: 40_000, Sources: 60, PerWindow: 9_000, BatchRows: 4096},
		{Seed: 2, Records: 30_000, Sources: 200, PerWindow: 30_000, BatchRows: 512},
	} {
		d := Generate(c)
		for _, q := range Queries() {
			for name, build := range map[string]Build{"operators": Operators, "forked": Forked, "planned": Planned, "beside": Beside} {
				require.NoError(t, compare(q.Name, d, plainSide(q, d), engineSide(q, d, build)), "%s, %s", q.Name, name)
			}
			require.NoError(t, compare(q.Name, d, plainSide(q, d), engineSide(q, d.Split(), Behind)), "%s behind an SUnion", q.Name)
		}
	}
}

func plainSide(q Query, d *Data) side {
	return func(out *Rows) error { q.plain(d, out); return nil }
}

func engineSide(q Query, d *Data, build Build) side {
	return func(out *Rows) error { return runEngine(q, d, build, out) }
}

// Split records come out of an SUnion whole and in order.
func TestOrdered(t *testing.T) {
	d := Generate(Config{Seed: 3, Records: 50_000, Sources: 60, PerWindow: 20_000, BatchRows: 512}).Split()
	r, err := Ordered(d, 1)
	require.NoError(t, err)
	require.Positive(t, r.NsPerRecord)
	require.Less(t, r.AllocsPerRecord, 0.1)
}

// A result has every figure, and the engine allocates nothing per record.
func TestRun(t *testing.T) {
	d := Generate(Config{Seed: 1, Records: 100_000, Sources: 100, PerWindow: 50_000, BatchRows: 4096})
	for _, q := range Queries() {
		r, err := Run(q, d, Operators, 3)
		require.NoError(t, err)
		require.Equal(t, q.Name, r.Name)
		require.Positive(t, r.NsPerRecord)
		require.Positive(t, r.PlainNsPerRecord)
		require.InDelta(t, r.PlainNsPerRecord/r.NsPerRecord, r.Ratio, 1e-9)
		require.Less(t, r.AllocsPerRecord, 0.05)
	}
}

// A side that gives other rows is found out: one row less, one value changed, two rows in another order.
func TestDifferenceIsFound(t *testing.T) {
	d := Generate(Config{Seed: 1, Records: 20_000, Sources: 60, PerWindow: 9_000, BatchRows: 4096})
	q := Queries()[1]
	other := q
	other.Text = strings.Replace(q.Text, "conns > 100", "conns > 110", 1)
	for name, build := range map[string]Build{
		"fewer rows": func(_ Query, s *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
			return Operators(other, s, sink)
		},
		"another value": func(q Query, s *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
			return Operators(q, s, func(b *tuple.Batch) error {
				c := b.Clone()
				c.Cols[3].Int[0]++
				return sink(c)
			})
		},
		"another order": func(q Query, s *tuple.Schema, sink func(*tuple.Batch) error) (Engine, error) {
			return Operators(q, s, func(b *tuple.Batch) error {
				c := b.Clone()
				c.Sel = []uint32{1, 0}
				for i := 2; i < len(c.Time); i++ {
					c.Sel = append(c.Sel, uint32(i))
				}
				return sink(c)
			})
		},
	} {
		require.ErrorContains(t, compare(q.Name, d, plainSide(q, d), engineSide(q, d, build)), "differ", name)
	}
	require.NoError(t, compare(q.Name, d, plainSide(q, d), engineSide(q, d, Operators)))
}
