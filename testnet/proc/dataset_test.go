package proc

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/testnet"
	"fednode/testnet/dataset"
)

// TestProcessDataSets: each public capture, its records dealt out to daemons of three organisations, gives the windows
// that other programs found, byte for byte.
func TestProcessDataSets(t *testing.T) {
	data, ok := dataset.Dir()
	if !ok {
		t.Log(dataset.Absent)
		return
	}
	for _, n := range dataset.Networks() {
		t.Run(n.Name, func(t *testing.T) {
			files, err := n.Files(data)
			require.NoError(t, err)
			want, err := n.Sums(data)
			require.NoError(t, err)
			s := testnet.Default()
			s.Query, s.Data = editedQuery(t, filepath.Join("..", "dataset", "testdata", n.Query), n.Set), files
			net := up(t, s, nil)
			v := awaitView(t, net, "all data are through", done)
			requireDealt(t, &v, n.Rows)
			for _, o := range dataset.NetworkOutputs() {
				require.Equal(t, want[o], sum(t, homeFile(net, o+".csv")), "sha256 of %s", o)
			}
		})
	}
}

// requireDealt holds each of three nodes to its share of the rows, and all nodes to having read every record: none was
// late or could not be read.
func requireDealt(t *testing.T, v *testnet.View, rows uint64) {
	t.Helper()
	require.Empty(t, v.Failures)
	require.Len(t, v.Nodes, 3)
	total := uint64(0)
	for _, n := range v.Nodes {
		require.InDelta(t, float64(rows)/3, float64(n.Rows), 1, n.ID)
		total += n.Rows
	}
	require.Equal(t, rows, total)
}

// editedQuery returns a query file in which values of strings are changed, each of a key that is there once.
func editedQuery(t *testing.T, file string, set []query.Edit) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	for _, e := range set {
		value, err := strconv.Unquote(e.Value)
		if err != nil {
			value = e.Value
		}
		key := regexp.MustCompile(`\b` + regexp.QuoteMeta(e.Name[strings.LastIndexByte(e.Name, '.')+1:]) + ` = "[^"]*"`)
		place := key.FindIndex(text)
		require.NotNil(t, place, "%s has no %s", file, e.Name)
		require.Len(t, key.FindAllIndex(text, -1), 1, "%s: %s", file, e.Name)
		found := string(text[place[0]:place[1]])
		edited := found[:strings.IndexByte(found, '"')] + strconv.Quote(value)
		text = []byte(string(text[:place[0]]) + edited + string(text[place[1]:]))
	}
	out := filepath.Join(t.TempDir(), filepath.Base(file))
	require.NoError(t, os.WriteFile(out, text, 0o644))
	return out
}
