package expr

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

func connsSchema() *tuple.Schema {
	return tuple.MustSchema(
		tuple.Field{Name: "dport", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "bytes", Type: tuple.Of(tuple.Int64)},
		tuple.Field{Name: "service", Type: tuple.Of(tuple.String)},
	)
}

func TestSelect(t *testing.T) {
	bb := tuple.NewBatchBuilder(connsSchema())
	for i := range 10 {
		bb.AppendInt(0, int64(i*300))
		bb.AppendInt(1, int64(i*500))
		bb.AppendBin(2, []byte([]string{"dns", "http"}[i%2]))
		bb.EndRow(tuple.Time(i))
	}
	p, errs := Compile("dport < 1024 and bytes >= 1000 or service = 'dns' and dport > 2000", connsSchema())
	require.Empty(t, errs)
	e := p.NewEval()
	b := bb.Take()
	require.Equal(t, []uint32{2, 3, 8}, e.Select(b, nil))
	require.Equal(t, []int{0, 1, 2}, p.Columns())
	require.Equal(t, "dport < 1024 AND bytes >= 1000 OR service = 'dns' AND dport > 2000", p.String())
	b.Sel = []uint32{8, 3, 1}
	require.Equal(t, []uint32{8, 3}, e.Select(b, nil))
	require.Equal(t, []bool{true, true, false}, e.Eval(b).Bool)
}

func TestCallText(t *testing.T) {
	c, err := ParseCall(" quantile( rtt + 1, 0.95 )")
	require.Nil(t, err)
	require.Equal(t, &Call{Name: "quantile", Offset: 1, Args: []Arg{{"rtt + 1", 11}, {"0.95", 20}}}, c)
	c, err = ParseCall("count(*)")
	require.Nil(t, err)
	require.Empty(t, c.Args)
	_, err = ParseCall("sum(x) + 1")
	require.ErrorContains(t, err, "expected the end of the call")
}
