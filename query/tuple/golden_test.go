package tuple_test

import (
	"encoding/hex"
	"testing"

	"fednode/query/tuple"

	"github.com/stretchr/testify/require"
)

// The bytes of a block are pinned: logs on disk hold them. Their layout is docs/formats/block.md.
func TestBlockGolden(t *testing.T) {
	b := tuple.NewBatchBuilder(tuple.MustSchema(
		tuple.Field{Name: "s", Type: tuple.Of(tuple.String), Form: tuple.Pseudonym, Key: "k"},
		tuple.Field{Name: "d", Type: tuple.DecimalType(2)},
		tuple.Field{Name: "l", Type: tuple.ListOf(tuple.Of(tuple.Bool))}))
	for i, v := range []string{"b", "a", "b"} {
		b.AppendBin(0, []byte(v))
		if i == 1 {
			b.AppendNull(1)
		} else {
			b.AppendInt(1, int64(i))
		}
		b.Col(2).Elem.Bool = append(b.Col(2).Elem.Bool, true)
		b.EndList(2)
		b.EndRow(tuple.Time(i))
	}
	const want = "03" + "0173" + "05000003" + "016b" + "0164" + "04020000" + "00" + "016c" + "0b000100" + "00" + // schema
		"03" + "0000000000000000" + "0100000000000000" + "0200000000000000" + // stimes
		"00" + "01" + "02" + "0162" + "0161" + "03" + "00000000" + "01000000" + "00000000" + // s
		"04" + "010001" + "03" + "0000000000000000" + "0000000000000000" + "0200000000000000" + // d
		"00" + "04" + "00000000" + "01000000" + "02000000" + "03000000" + "00" + "04" + "010101" // l
	require.Equal(t, want, hex.EncodeToString(block(b.Take())))
}
