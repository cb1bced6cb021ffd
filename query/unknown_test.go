package query_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/op"
)

// documented holds the keys of each kind as the documentation lists them, with values of the right types.
var documented = map[string]string{
	"filter":    `where = "x > 1"`,
	"router":    "routes = [{ name = \"a\", where = \"x > 1\" }]\nmode = \"first\"\nrest = \"b\"",
	"map":       "columns = { a = \"x\" }\nkeep = [\"*\"]",
	"union":     `origin = "org"`,
	"aggregate": "window = { tumbling = \"60s\", offset = \"1s\", zone = \"UTC\" }\ngroup_by = [\"x\"]\naggregates = { n = \"count()\" }\nhaving = \"n > 1\"\nemit_empty = true\nttl = \"1d\"\nlimit = 10",
	"join":      "on = [\"x\"]\ntype = \"left\"\nwithin = \"5s\"\nwhere = \"x > 1\"\ncolumns = { a = \"left.x\" }\nlimit = 10",
	"distinct":  "columns = [\"x\"]\nwithin = \"5s\"\nlimit = 10",
	"top":       "n = 3\nby = [{ column = \"x\", desc = true }]\nwindow = \"same\"\npartition_by = [\"y\"]",
	"sort":      "by = [\"x\"]\nwindow = \"same\"",
	"limit":     "rows = 3\nper = \"window\"",
	"sample":    "fraction = 0.5\nby = [\"x\"]",
	"dedup":     "by = [\"x\"]\nwithin = \"5s\"",
	"throttle":  "key = [\"x\"]\ntype = \"limit\"\ncount = 3\nper = \"1m\"",
	"over":      "key = [\"x\"]\nadd = { a = \"lag(1)\" }\nttl = \"1d\"",
	"pattern":   "key = [\"x\"]\nwithin = \"5s\"\nsteps = [{ name = \"a\", where = \"x > 1\" }]\nselect = { n = \"count(a)\" }\nafter = \"next\"",
	"table":     "key = [\"x\"]\nttl = \"1d\"\nlimit = 10\nmatch = \"exact\"",
	"lookup":    "on = { k = \"x\" }\nkeep = \"all\"\nas_of = \"latest\"",
}

// A misspelt key is found although the input is missing too, and a documented one is never called unknown.
func TestUnknownKeysWithoutInput(t *testing.T) {
	for _, kind := range op.Kinds() {
		keys, ok := documented[kind.Name]
		require.True(t, ok, "list the keys of %s", kind.Name)
		for _, inputs := range []string{"", "input = \"gone\"\ninputs = [\"gone\"]\nleft = \"gone\"\nright = \"gone\"\ntable = \"gone\""} {
			src := "[query]\nname = \"q\"\n[operators.o]\nkind = \"" + kind.Name + "\"\n" + keys + "\nwindwo = \"5s\"\n" + inputs
			_, p := query.Parse("q.toml", []byte(src), query.Options{})
			var unknown []string
			for _, e := range p.Errors {
				if strings.Contains(e.Msg, "unknown key") && !strings.Contains("input inputs left right table", e.Path[len("operators.o."):]) {
					unknown = append(unknown, e.Path)
				}
			}
			require.Equal(t, []string{"operators.o.windwo"}, unknown, kind.Name)
		}
	}
}
