package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

func textSchema() *tuple.Schema {
	return tuple.MustSchema(tuple.Field{Name: "s", Type: tuple.Of(tuple.String)}, tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)})
}

func mustEval(t *testing.T, src string, schema *tuple.Schema) *Eval {
	t.Helper()
	p, errs := Compile(src, schema)
	require.Empty(t, errs)
	return p.NewEval()
}

func texts(c *tuple.Column) []string {
	out := make([]string, c.Rows())
	for i := range out {
		out[i] = "null"
		if !c.IsNull(i) {
			out[i] = string(c.Bin(i))
		}
	}
	return out
}

// What is known of a dictionary stays right when a batch brings an older snapshot of it, and grows with the next newer.
func TestOlderSnapshot(t *testing.T) {
	bb := tuple.NewBatchBuilder(textSchema())
	batch := func(words ...string) *tuple.Batch {
		for _, w := range words {
			bb.AppendBin(0, []byte(w))
			bb.AppendInt(1, 0)
			bb.EndRow(0)
		}
		return bb.Take()
	}
	first, second, third := batch("A", "B"), batch("B", "C", "D"), batch("E", "A", "C")
	e := mustEval(t, "lower(s)", textSchema())
	require.Equal(t, []string{"b", "c", "d"}, texts(e.Eval(second)))
	require.Equal(t, []string{"a", "b"}, texts(e.Eval(first)))
	require.Equal(t, []string{"e", "a", "c"}, texts(e.Eval(third)))
}

// Batches of more dictionaries than are remembered, in turn, each with nulls.
func TestAlternatingDictionaries(t *testing.T) {
	e := mustEval(t, "coalesce(upper(s), 'none') || '!'", textSchema())
	var builders []*tuple.BatchBuilder
	for range 6 {
		builders = append(builders, tuple.NewBatchBuilder(textSchema()))
	}
	for i := range 60 {
		bb := builders[i%len(builders)]
		word := fmt.Sprint("w", i%11, "x", i%6)
		bb.AppendBin(0, []byte(word))
		bb.AppendInt(1, 0)
		bb.EndRow(0)
		bb.AppendNull(0)
		bb.AppendInt(1, 0)
		bb.EndRow(0)
		require.Equal(t, []string{fmt.Sprint("W", i%11, "X", i%6, "!"), "none!"}, texts(e.Eval(bb.Take())))
	}
}

// A dictionary far larger than the batch is not computed whole at once, and is once enough rows have paid for it.
func TestLargeDictionary(t *testing.T) {
	bb := tuple.NewBatchBuilder(textSchema())
	for i := range 5000 {
		bb.AppendBin(0, fmt.Appendf(nil, "v%d", i))
		bb.AppendInt(1, int64(i))
		bb.EndRow(0)
	}
	all := bb.Take()
	e := mustEval(t, "upper(s)", textSchema())
	k := e.root.(*dictKernel)
	for lo := 0; lo < 5000; lo += 10 {
		require.Equal(t, fmt.Sprint("V", lo), texts(e.Eval(all.Slice(lo, lo+10)))[0])
		if lo < 4000 {
			require.Zero(t, k.known[0].have)
		}
	}
	require.Equal(t, 5000, k.known[0].have)
}

// A code that counts makes rows count one by one.
func TestCountingCodes(t *testing.T) {
	bb := tuple.NewBatchBuilder(textSchema())
	for range 5 {
		bb.AppendBin(0, []byte("same"))
		bb.AppendInt(1, 0)
		bb.EndRow(0)
	}
	b := bb.Take()
	e := mustEval(t, "length(s) / 0", textSchema())
	require.True(t, e.Eval(b).IsNull(0))
	require.Equal(t, uint64(5), e.Counters().DivByZero)
}

// A dictionary of results that is full gives way to a new one.
func TestResultDictionaryRotates(t *testing.T) {
	e := mustEval(t, "concat(s, cast(n as string))", textSchema())
	bb := tuple.NewBatchBuilder(textSchema())
	lineages := map[*tuple.Lineage]bool{}
	for i := range 40 {
		for j := range 4000 {
			bb.AppendBin(0, []byte("k"))
			bb.AppendInt(1, int64(i*4000+j))
			bb.EndRow(0)
		}
		c := e.Eval(bb.Take())
		require.Equal(t, fmt.Sprint("k", i*4000+3999), string(c.Bin(3999)))
		require.Less(t, c.Dict.Len(), tuple.DictMaxValues+4000)
		lineages[c.Dict.Lineage()] = true
	}
	require.Greater(t, len(lineages), 1)
}

// Evaluation reuses its memory: no allocation a row, and none a batch once the buffers have grown.
func TestNoAllocation(t *testing.T) {
	batch := benchBatch()
	for _, src := range []string{"v*2+1 > 1000", "dport < 1024 and bytes > 1000", "service = 'dns' or x > 0.5", "not ip_in(src, '10.0.0.0/8')", "v / dport between 1 and 3", "service in ('dns', 'ssh')"} {
		e := mustEval(t, src, batch.Schema)
		dst := e.Select(batch, nil)
		require.Zero(t, testing.AllocsPerRun(10, func() { dst = e.Select(batch, dst[:0]) }), src)
	}
	for _, src := range []string{"bytes * 8", "x * 2.5 + 1", "lower(service)", "case when dport < 1024 then 'low' else service end", "coalesce(nullif(v, 3), bytes)", "ip_prefix(src, 24, 48)", "date_trunc('hour', from_unix(v, 's'))"} {
		e := mustEval(t, src, batch.Schema)
		e.Eval(batch)
		require.Zero(t, testing.AllocsPerRun(10, func() { e.Eval(batch) }), src)
	}
}

// Long strings pass where they are kept, and give a counted null where they would grow beyond the limit; the empty string
// is a value.
func TestStringSizes(t *testing.T) {
	long := strings.Repeat("A", MaxString+1)
	bb := tuple.NewBatchBuilder(textSchema())
	for _, s := range []string{long, "", long[:MaxString]} {
		bb.AppendBin(0, []byte(s))
		bb.AppendInt(1, 0)
		bb.EndRow(0)
	}
	b := bb.Take()
	lower := mustEval(t, "lower(s)", textSchema())
	require.Equal(t, []string{strings.ToLower(long), "", strings.ToLower(long[1:])}, texts(lower.Eval(b)))
	require.Zero(t, lower.Counters())

	joined := mustEval(t, "s || 'x'", textSchema())
	require.Equal(t, []string{"null", "x", "null"}, texts(joined.Eval(b)))
	require.Equal(t, Counters{Overflow: 2}, joined.Counters())
	require.Equal(t, []bool{true, false, true}, mustEval(t, "s <> '' and length(s) > 1000", textSchema()).Eval(b).Bool)
}
