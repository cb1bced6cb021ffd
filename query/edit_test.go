package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/spec"
)

const editSource = `
[query]
name = "q"
[streams.a]
connector = "file"
path = "old.log"
format = "zeek"
follow = true
max_out_of_order = "5s"
columns = { n = "int64" }
[streams.b]
connector = "node"
stream = "south/b"
columns = { n = "int64" }
[operators.g]
kind = "gather"
inputs = ["a", "b"]
[outputs.o]
connector = "file"
path = "o.csv"
delimiter = ";"
input = "g"
`

func parseEdited(e Edits) (*Diagram, *spec.Problems) {
	return Parse("q.toml", []byte(editSource), Options{Kinds: fakeKinds(), Edit: e.Apply})
}

func keysOf(t *spec.Table) (names []string) {
	for _, e := range t.Entries {
		names = append(names, e.Key)
	}
	return names
}

func TestEdits(t *testing.T) {
	d, p := parseEdited(Edits{
		Sources: []Edit{{"a", "new.log.gz"}, {"b", "b.csv"}},
		Sinks:   []Edit{{"o", "-"}},
		Set:     []Edit{{"query.max_delay", "inf"}, {"query.bucket", `"1s"`}, {"streams.a.max_row", "2MiB"}},
	})
	require.NoError(t, p.Err())
	require.Equal(t, Unbounded, d.Settings.MaxDelay)
	require.EqualValues(t, 1_000_000, d.Settings.Bucket)
	a, b, o := d.Stream("a"), d.Stream("b"), d.Outputs[0]
	require.Equal(t, []string{"connector", "path", "format", "max_out_of_order", "columns", "max_row"}, keysOf(a.Keys), "a file of the same kind is read the same way")
	require.Equal(t, "new.log.gz", a.Keys.Lookup("path").Value.Str)
	require.EqualValues(t, 2<<20, a.Rules.MaxRow)
	require.EqualValues(t, 5_000_000, a.Rules.MaxOutOfOrder)
	require.Equal(t, []string{"columns", "connector", "path"}, keysOf(b.Keys))
	require.Equal(t, "file", b.Connector)
	require.Empty(t, b.Foreign)
	require.Equal(t, []string{"input", "connector", "path"}, keysOf(o.Keys), "another format has other keys")
}

func TestEditsThatAreWrong(t *testing.T) {
	_, p := parseEdited(Edits{
		Sources: []Edit{{"aa", "x.csv"}},
		Sinks:   []Edit{{"zzzz", "x.csv"}},
		Set:     []Edit{{"query.name.x", "1"}, {"query.max_dely", "1s"}, {"query.failure", "7"}},
	})
	require.Equal(t, "--set query.failure: expected a string, got an integer\n"+
		"--set query.max_dely: unknown key `max_dely`; did you mean `max_delay`?\n"+
		"--set query.name.x: `name` is a string, not a table\n"+
		"--sink zzzz: the query has no [outputs.zzzz]; there are: o\n"+
		"--source aa: the query has no [streams.aa]; there are: a, b", p.Err().Error())
}
