package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// printJSON prints one JSON document.
func printJSON(c *cobra.Command, v any) error {
	e := json.NewEncoder(c.OutOrStdout())
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// exactArgs demands so many arguments.
func exactArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != n {
			return wrong("%s takes %s, got %d; see %s --help", c.CommandPath(), plural(n, "argument"), len(args), c.CommandPath())
		}
		return nil
	}
}

// minimumArgs demands at least so many arguments.
func minimumArgs(n int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return wrong("%s takes at least %s; see %s --help", c.CommandPath(), plural(n, "argument"), c.CommandPath())
		}
		return nil
	}
}

// plural prints a count with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// grouped prints a count with its thousands apart: 1,234,567.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// parseSize reads a number of bytes from a flag, such as 128MiB.
func parseSize(flag, text string) (int64, error) {
	for _, u := range []struct {
		name string
		mul  float64
	}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}, {"", 1}} {
		if body, ok := strings.CutSuffix(text, u.name); ok {
			var n float64
			if _, err := fmt.Sscanf(body, "%g", &n); err != nil || n <= 0 || n*u.mul > 1<<50 {
				break
			}
			return int64(n * u.mul), nil
		}
	}
	return 0, wrong("--%s %s: expected a size such as 128MiB", flag, text)
}
