package docs

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// root is the repository, seen from this package.
const root = "../.."

var rewrite = flag.Bool("rewrite", false, "write the generated documentation anew")

// bin is where the command is built, for those tests that need it.
var bin string

func TestMain(m *testing.M) { os.Exit(withBin(m)) }

func withBin(m *testing.M) int {
	dir, err := os.MkdirTemp("", "fednode-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	bin = dir
	return m.Run()
}

var build = sync.OnceValues(func() ([]byte, error) {
	cmd := exec.Command("go", "build", "-o", filepath.Join(bin, "fednode"), "./cmd/fednode")
	cmd.Dir = root
	return cmd.CombinedOutput()
})

// program returns the path of the command, freshly built.
func program(t *testing.T) string {
	t.Helper()
	out, err := build()
	require.NoError(t, err, "go build ./cmd/fednode: %s", out)
	return filepath.Join(bin, "fednode")
}

// fresh compares a generated file with what it has to be, or writes it.
func fresh(t *testing.T, path, want string) {
	t.Helper()
	if *rewrite {
		require.NoError(t, os.WriteFile(path, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, want, string(have), "%s is stale: run go test ./testnet/docs -rewrite and read the difference", path)
}
