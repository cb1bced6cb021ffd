package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// walkCommands calls f for every command that people see.
func walkCommands(c *cobra.Command, f func(*cobra.Command)) {
	f(c)
	for _, sub := range c.Commands() {
		if sub.Name() != "help" && !sub.Hidden {
			walkCommands(sub, f)
		}
	}
}

// The help of each command is pinned in testdata/help, one file each; it is a promise to those who read it.
func TestHelp(t *testing.T) {
	rewrite := flag.Lookup("rewrite").Value.String() == "true"
	const dir = "testdata/help"
	stale := make(map[string]bool)
	old, err := filepath.Glob(dir + "/*.txt")
	require.NoError(t, err)
	for _, path := range old {
		stale[path] = true
	}
	walkCommands(newRoot(), func(c *cobra.Command) {
		path := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "_")+".txt")
		delete(stale, path)
		var out bytes.Buffer
		c.SetOut(&out)
		require.NoError(t, c.Help())
		if rewrite {
			require.NoError(t, os.MkdirAll(dir, 0o755))
			require.NoError(t, os.WriteFile(path, out.Bytes(), 0o644))
			return
		}
		want, err := os.ReadFile(path)
		require.NoError(t, err, "run go test ./cmd/fednode -run TestHelp -rewrite")
		require.Equal(t, string(want), out.String(), "run go test ./cmd/fednode -run TestHelp -rewrite if it is meant to change")
	})
	for path := range stale {
		if rewrite {
			require.NoError(t, os.Remove(path))
			continue
		}
		require.Fail(t, "there is no such command any more", path)
	}
}

// Every command that does something shows how, and its lines fit a terminal.
func TestHelpHasExamples(t *testing.T) {
	walkCommands(newRoot(), func(c *cobra.Command) {
		require.NotEmpty(t, c.Short, c.CommandPath())
		if c.Annotations[group] == "" {
			require.Contains(t, c.Example, c.CommandPath(), "the example of %s shows another command", c.CommandPath())
		}
		for line := range strings.Lines(c.Long) {
			require.LessOrEqual(t, len(line), 121, c.CommandPath())
		}
	})
}
