//go:build parquet

package format

import (
	"bytes"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"fednode/query/tuple/arrowio"
)

func TestParquet(t *testing.T) {
	s := stream(t, "at", "n int64", "at timestamp", "text string")
	b := sample(t, s, rowsText(100, func(i int) string { return `{"n":` + ipv4(i)[7:] + `,"at":"2024-04-19T00:00:00Z","text":"a"}` + "\n" }))
	ex := arrowio.NewExporter(s.Schema, arrowio.Layout{})
	rec := ex.Record(b)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(ex.Schema(), &out, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	require.NoError(t, w.Write(arrow.RecordBatch(rec)))
	require.NoError(t, w.Close())
	o := DefaultOptions(Parquet)
	got, err := drain(s, o, bytes.NewReader(out.Bytes()), 7)
	require.NoError(t, err)
	require.Len(t, got, 100)
	require.Equal(t, `99 "2024-04-19T00:00:00Z" "a"`, got[99])
	restarted, err := drainRestarting(s, o, out.Bytes())
	require.NoError(t, err)
	require.Equal(t, got, restarted)
	for cut := range out.Len() {
		_, err := drain(s, o, bytes.NewReader(out.Bytes()[:cut]), 7)
		require.Error(t, err)
	}
}
