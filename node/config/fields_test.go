package config

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	_ "github.com/cockroachdb/datadriven" // declares -rewrite
	"github.com/stretchr/testify/require"

	"fednode/node/bind"
	"fednode/node/connect/connectors"
	"fednode/node/export"
	"fednode/query/spec"
)

const minimal = "[node]\norg = \"north\"\nname = \"n1\"\n"

func read(text string) (*Config, *spec.Problems) {
	keys := func(name string) (*export.Key, error) {
		if name != "own" {
			return nil, fmt.Errorf("no key `%s` here", name)
		}
		return &export.Key{Name: name}, nil
	}
	return Read("node.toml", []byte(text), Options{Env: func(string) (string, bool) { return "", false }, Connectors: bind.New(connectors.Kinds()), Keys: keys})
}

func mustRead(t *testing.T, text string) *Config {
	t.Helper()
	c, p := read(text)
	require.NoError(t, p.Err())
	return c
}

// with returns the minimal file with one field set to a literal.
func with(f Field, literal string) string {
	if f.Section() == "node" {
		lines := map[string]string{"org": `"north"`, "name": `"n1"`}
		lines[f.Key()] = literal
		text := "[node]\n"
		for _, k := range []string{"org", "name", "data_dir"} {
			if lines[k] != "" {
				text += k + " = " + lines[k] + "\n"
			}
		}
		return text
	}
	return minimal + "[" + f.Section() + "]\n" + f.Key() + " = " + literal + "\n"
}

func (f Field) literal(value string) string {
	if f.Type == "count" || f.Type == "true or false" {
		return value
	}
	return fmt.Sprintf("%q", value)
}

// The table's defaults are those that Read uses, and writing one out changes nothing.
func TestFieldDefaults(t *testing.T) {
	defaults := mustRead(t, minimal)
	for _, f := range Fields() {
		if f.Required {
			continue
		}
		require.Equal(t, f.Default, f.Value(defaults), f.Path)
		if f.Default != "" {
			require.Equal(t, f.Default, f.Value(mustRead(t, with(f, f.literal(f.Default)))), f.Path)
		}
	}
}

// The ends of the table's ranges are allowed, and Read says the same range when a value is outside.
func TestFieldRanges(t *testing.T) {
	outside := map[string][]string{"duration": {"366000d"}, "size": {"2048TiB"}, "count": {"0", "9999999"}}
	for _, f := range Fields() {
		lo, hi, bounded := strings.Cut(f.Range, " to ")
		if !bounded || outside[f.Type] == nil {
			continue
		}
		for _, end := range []string{lo, hi} {
			end = strings.Replace(end, "PiB", "024TiB", 1) // 1PiB is written 1024TiB
			require.NotEmpty(t, f.Value(mustRead(t, with(f, f.literal(end)))), "%s = %s", f.Path, end)
		}
		for _, value := range outside[f.Type] {
			_, p := read(with(f, f.literal(value)))
			require.ErrorContains(t, p.Err(), f.Path+": ", value)
			require.ErrorContains(t, p.Err(), "out of range", value)
		}
	}
}

// Every choice of the table is accepted and comes back.
func TestFieldChoices(t *testing.T) {
	for _, f := range Fields() {
		if f.Type != "one of" {
			continue
		}
		for _, choice := range strings.Split(f.Range, ", ") {
			require.Equal(t, choice, f.Value(mustRead(t, with(f, f.literal(choice)))), f.Path)
		}
		_, p := read(with(f, `"no-such"`))
		require.ErrorContains(t, p.Err(), "is not one of "+f.Range)
	}
}

// Read knows exactly the table's keys: it lists them when it meets one that resembles none.
func TestFieldsAreAll(t *testing.T) {
	bySection := make(map[string][]string)
	for _, f := range Fields() {
		bySection[f.Section()] = append(bySection[f.Section()], f.Key())
	}
	bySection["node"] = append(bySection["node"], "labels")
	bySection["federation"] = append(bySection["federation"], "host")
	bySection["limits"] = append(bySection["limits"], "partner")
	listed := regexp.MustCompile("unknown key `q9`; there are: (.*)")
	for section, keys := range bySection {
		text := minimal + "[" + section + "]\nq9 = 1\n"
		if section == "node" {
			text = minimal + "q9 = 1\n"
		}
		_, p := read(text)
		m := listed.FindStringSubmatch(p.Err().Error())
		require.NotNil(t, m, "%s: %v", section, p.Err())
		require.ElementsMatch(t, keys, strings.Split(m[1], ", "), section)
	}
}

// docs/configuration.md holds the table as it is.
func TestDocsAreFresh(t *testing.T) {
	const path, begin, end = "../../docs/configuration.md", "<!-- fields: begin -->\n", "<!-- fields: end -->"
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	head, rest, ok := strings.Cut(string(text), begin)
	require.True(t, ok)
	got, tail, ok := strings.Cut(rest, end)
	require.True(t, ok)
	if flag.Lookup("rewrite").Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(head+begin+Markdown()+"\n"+end+tail), 0o644))
		return
	}
	require.Equal(t, Markdown()+"\n", got, "run go test ./node/config -rewrite")
}
