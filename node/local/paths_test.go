package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/query"
)

// TestPaths: no result takes the place of what the run reads, under whatever name.
func TestPaths(t *testing.T) {
	w := newWorkplace(t, counts)
	w.put(t, "in.csv", inOrder(4))
	require.NoError(t, os.Symlink(filepath.Join(w.dir, "in.csv"), filepath.Join(w.dir, "link.csv")))
	for _, path := range []string{"in.csv", "./in.csv", "link.csv", filepath.Join(w.dir, "in.csv")} {
		_, err := w.run(t, "outputs.out.path="+path)
		require.ErrorContains(t, err, "which stream in reads", path)
		require.Equal(t, inOrder(4), w.get(t, "in.csv"))
	}
	_, err := w.run(t, "streams.in.path=*.csv", "outputs.out.path=in.csv")
	require.ErrorContains(t, err, "output out would replace")
	_, err = w.run(t)
	require.NoError(t, err)
	_, err = w.run(t)
	require.NoError(t, err, "over an older result")
}

// TestTwoOutputsOfOneFile is refused before anything runs.
func TestTwoOutputsOfOneFile(t *testing.T) {
	text := counts + "[outputs.second]\ninput = \"short\"\nconnector = \"file\"\npath = \"./out.csv\"\n"
	_, problems := query.Parse("q.toml", []byte(text), query.Options{
		Connectors: bind.New(connectors.Kinds()), Placement: query.Placement{Local: true},
	})
	require.ErrorContains(t, problems.Err(), "outputs.out writes ./out.csv too")
	require.Equal(t, 1, strings.Count(problems.Err().Error(), "out.csv"))
}
