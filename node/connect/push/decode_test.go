package push

import (
	"strings"
	"testing"

	"fednode/node/connect"
	"fednode/node/connect/format"
	"fednode/query/tuple"
)

// TestBlankBody shows that a large body of blank lines ends, and brings the row behind them.
func TestBlankBody(t *testing.T) {
	s, errs := connect.NewStream("s", []connect.ColumnSpec{{Name: "v", Type: tuple.Of(tuple.Int64)}}, "")
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	body := strings.Repeat("\n", 12<<20) + "{\"v\":1}\n"
	blocks, err := Decode(t.Context(), s, format.DefaultOptions(format.JSONL), "body", strings.NewReader(body), DefaultMaxBody)
	if err != nil {
		t.Fatal(err)
	}
	if len(blocks) != 1 || blocks[0].Rows() != 1 {
		t.Fatalf("%d blocks", len(blocks))
	}
}
