package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// everySection has one section of each kind that a query file knows, each with a key that nothing resembles: the program
// then lists the keys that it knows there.
const everySection = `
[query]
name = "q"
q9 = 1
[streams.files]
connector = "file"
path = "a.csv"
q9 = 1
columns = { t = { type = "timestamp", q9 = 1 } }
[streams.made]
connector = "generate"
kind = "connections"
q9 = 1
columns = { ts = "timestamp" }
[streams.pushed]
connector = "http"
q9 = 1
columns = { n = "int64" }
[streams.theirs]
connector = "node"
stream = "south/conns"
q9 = 1
columns = { n = "int64" }
[outputs.file]
input = "pushed"
connector = "file"
path = "a.csv"
q9 = 1
[outputs.table]
input = "pushed"
connector = "postgres"
database = "d"
table = "t"
q9 = 1
[outputs.lines]
input = "pushed"
connector = "file"
path = "a.jsonl"
q9 = 1
[fragments.here]
operators = ["none"]
q9 = 1
`

// docs/query-files.md explains every key that the sections of a query file can have.
func TestQueryKeysAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/query-files.md"))
	require.NoError(t, err)
	_, p := parseQuery("q.toml", everySection)
	explained := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| (`[^|]*) \\|").FindAllStringSubmatch(string(page), -1) {
		for _, key := range regexp.MustCompile("`([a-z_]+)`").FindAllStringSubmatch(row[1], -1) {
			explained[key[1]] = true
		}
	}
	sections := 0
	for _, e := range p.Errors {
		keys, listed := strings.CutPrefix(e.Hint, "there are: ")
		if !listed || !strings.HasSuffix(e.Path, ".q9") {
			continue
		}
		sections++
		for _, key := range strings.Split(keys, ", ") {
			if !explained[key] && !strings.Contains(string(page), "`"+key+"`") && !strings.Contains(string(page), "`"+key+" =") {
				t.Errorf("docs/query-files.md does not explain the key %s of %s", key, e.Path)
			}
		}
	}
	require.Equal(t, 10, sections, "%v", p.Err())
}

// docs/errors.md has every code that the API answers with, and every exit code.
func TestCodesAreExplained(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/errors.md"))
	require.NoError(t, err)
	source, err := os.ReadFile(filepath.Join(root, "node/api/errors.go"))
	require.NoError(t, err)
	list := regexp.MustCompile(`(?s)// Code is stable: (.*?)\.\n`).FindSubmatch(source)
	require.NotNil(t, list)
	codes := regexp.MustCompile(`[a-z_]{3,}`).FindAllString(strings.ReplaceAll(string(list[1]), " or ", " "), -1)
	require.Greater(t, len(codes), 8)
	for _, code := range codes {
		require.Regexp(t, "(?m)^\\| `"+code+"` \\| [1-5][0-9][0-9] \\|", string(page))
	}
	exits, err := os.ReadFile(filepath.Join(root, "cmd/fednode/exit.go"))
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`(?m)^\texit[A-Z]\w+ += (\d)`).FindAllStringSubmatch(string(exits), -1) {
		require.Contains(t, string(page), "\n| "+m[1]+" | ")
	}
}
