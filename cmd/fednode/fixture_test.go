package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// result is what a command left behind.
type result struct {
	out  string
	err  string // standard error, with the error that ended the command as main prints it
	code int
}

// command runs the program in this process, without a terminal.
func command(t *testing.T, args ...string) result {
	t.Helper()
	var out, said bytes.Buffer
	root := newRoot()
	root.SetArgs(notNil(args)) // cobra takes nil for those of the process
	root.SetOut(&out)
	root.SetErr(&said)
	root.SetIn(strings.NewReader(""))
	err := root.ExecuteContext(t.Context())
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintf(&said, "fednode: %v\n", err)
	}
	return result{out.String(), said.String(), exitCode(err)}
}

// ok runs a command that must succeed and returns what it printed.
func ok(t *testing.T, args ...string) string {
	t.Helper()
	r := command(t, args...)
	require.Zero(t, r.code, "fednode %s\n%s", strings.Join(args, " "), r.err)
	return r.out
}

// okJSON runs a command with --json and decodes its document.
func okJSON(t *testing.T, out any, args ...string) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(ok(t, append(args, "--json")...)), out))
}

// refuses runs a command that must fail with a code, and whose errors must say all of these.
func refuses(t *testing.T, code int, says []string, args ...string) {
	t.Helper()
	r := command(t, args...)
	require.Equal(t, code, r.code, "fednode %s\n%s", strings.Join(args, " "), r.err)
	require.Empty(t, r.out)
	for _, s := range says {
		require.Contains(t, r.err, s)
	}
}

// newNode makes an organisation with one node.
func newNode(t *testing.T, org string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), org)
	ok(t, "init", "--org", org, "--dir", dir)
	return dir
}

// snapshot reads every file of a directory.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	}))
	return files
}
