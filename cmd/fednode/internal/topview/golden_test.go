package topview

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/stretchr/testify/require"
)

// Each situation looks as its file in testdata says, on a small and on a large terminal.
func TestGolden(t *testing.T) {
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	for name, change := range situations() {
		for _, size := range []struct{ width, height int }{{80, 24}, {120, 40}} {
			path := filepath.Join("testdata", fmt.Sprintf("%s_%dx%d.txt", name, size.width, size.height))
			t.Run(filepath.Base(path), func(t *testing.T) {
				f := well()
				f.Width, f.Height = size.width, size.height
				change(f)
				got := f.Render() + "\n"
				if rewrite {
					require.NoError(t, os.MkdirAll("testdata", 0o755))
					require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
					return
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err, "run go test ./cmd/fednode/internal/topview -rewrite")
				require.Equal(t, string(want), got, "run go test ./cmd/fednode/internal/topview -rewrite if it is meant to change")
			})
		}
	}
}
