package wire

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"fednode/query/tuple"
	"fednode/query/tuple/arrowio/stream"

	"github.com/stretchr/testify/require"
)

// docs/formats/frame.md names every kind and code with its number, and every limit with its value.
func TestFormatIsDocumented(t *testing.T) {
	raw, err := os.ReadFile("../../docs/formats/frame.md")
	require.NoError(t, err)
	text := strings.Join(strings.Fields(string(raw)), " ")
	for k := tuple.Insertion; k <= tuple.Gap; k++ {
		require.Contains(t, text, fmt.Sprintf("| %d | `%v` |", uint8(k), k))
	}
	for k := KindHello; k <= KindAttach; k++ {
		require.Contains(t, text, fmt.Sprintf("| %d | `%v` |", uint8(k), k))
	}
	for c := BadLength; c <= OverQuota; c++ {
		require.Contains(t, text, fmt.Sprintf("| %d | `%v` |", uint8(c), c))
	}
	for r := NoStream; r <= Stopping; r++ {
		require.Contains(t, text, fmt.Sprintf("%d `%v`", uint8(r), r))
	}
	for s := Starting; s <= Ended; s++ {
		require.Contains(t, text, fmt.Sprintf("%d `%v`", uint8(s), s))
	}
	for p := PartingShutdown; p <= PartingBrokenRules; p++ {
		require.Contains(t, text, fmt.Sprintf("%d `%v`", uint8(p), p))
	}
	for l := Received; l <= Delivered; l++ {
		require.Contains(t, text, fmt.Sprintf("%d `%v`", uint8(l), l))
	}
	for _, n := range []int{MaxFrame, MaxControl, CutBytes, maxPlainFrame, stream.MaxBytes, stream.MaxRows, stream.MaxColumns,
		tuple.DictMaxValues, tuple.DictMaxBytes, maxMissing, maxProducer} {
		require.Contains(t, strings.ReplaceAll(text, ",", ""), fmt.Sprint(n))
	}
}
