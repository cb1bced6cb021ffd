package node

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestEachReadsTheOther: two organisations that read each other's streams of one name get every row once.
func TestEachReadsTheOther(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies + talliesExport, "south": tallies + talliesExport})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	f.connect()
	dir := t.TempDir()
	at, err := north.node.Deploy(t.Context(), "copy.toml", []byte(copyOf("copy", "south/tallies", filepath.Join(dir, "north.csv"))), false)
	require.NoError(t, err)
	require.True(t, at.Changed)
	_, err = south.node.Deploy(t.Context(), "copy.toml", []byte(copyOf("copy", "north/tallies", filepath.Join(dir, "south.csv"))), false)
	require.NoError(t, err)
	for n := range 3 {
		north.pushTallies("north/tallies", "north", 1+n*50, 50+n*50)
		south.pushTallies("south/tallies", "south", 1+n*50, 50+n*50)
	}
	for name, from := range map[string]string{"north.csv": "south", "south.csv": "north"} {
		path := filepath.Join(dir, name)
		f.eventually(func() bool { return len(lines(path)) >= 151 }, "all rows are there")
		want := []string{"kind,n"}
		for n := range 150 {
			want = append(want, fmt.Sprintf("%s,%d", from, n+1))
		}
		require.Equal(t, want, lines(path))
	}
}

const around = `
[query]
name = %q
max_delay = "inf"
[streams.fresh]
connector = "node"
stream = "solo/tallies"
time = "arrival"
columns = { kind = "string", n = "int64" }
[streams.back]
connector = "node"
stream = %q
time = "arrival"
columns = { kind = "string", n = "int64" }
[operators.all]
kind = "union"
inputs = ["fresh", "back"]
[outputs.out]
input = "all"
connector = "node"
`

// TestQueriesInACircle: a query that would read its own results, through whatever other queries, is refused with the way
// they take; without it the others run.
func TestQueriesInACircle(t *testing.T) {
	f := newFed(t, map[string]string{"solo": soon(tallies)})
	solo := f.nodes["solo"]
	solo.start()
	deploy := func(name, reads string, replace bool) error {
		_, err := solo.node.Deploy(t.Context(), name+".toml", fmt.Appendf(nil, around, name, reads), replace)
		return err
	}
	require.NoError(t, deploy("a", "solo/b/out", false), "nothing of b is known yet")
	require.NoError(t, deploy("c", "solo/a/out", false))
	for name, way := range map[string]string{
		"b": "b.toml:12:10: streams.back.stream: the query would wait for its own results: solo/b reads solo/c reads solo/a reads solo/b",
		"d": "d.toml:12:10: streams.back.stream: the query would wait for its own results: solo/d reads solo/d",
	} {
		reads := "solo/c/out"
		if name == "d" {
			reads = "solo/d/out"
		}
		require.ErrorContains(t, deploy(name, reads, false), way)
	}
	require.NoError(t, deploy("b", "solo/tallies", false))
	require.ErrorContains(t, deploy("b", "solo/a/out", true), "solo/b reads solo/a reads solo/b")
	require.NoError(t, deploy("a", "solo/b/out", false), "the same again")
	require.NoError(t, solo.node.StopQuery("a"))
	require.NoError(t, deploy("b", "solo/a/out", true), "a stopped query reads nothing")
	require.ErrorContains(t, deploy("a", "solo/b/out", false), "solo/a reads solo/b reads solo/a")
}

// TestACircleOfOrganisations: the result of a query does not leave for another organisation's query, so a circle over two
// of them stays open; no row comes round.
func TestACircleOfOrganisations(t *testing.T) {
	f := newFed(t, map[string]string{"north": tallies + talliesExport, "south": tallies + talliesExport})
	north, south := f.nodes["north"], f.nodes["south"]
	north.start()
	south.start()
	f.connect()
	refused := func(m *party) bool {
		for _, q := range m.node.Backend(nil, func() []string { return nil }).Status().Queries {
			for _, fr := range q.Fragments {
				for _, in := range fr.Inputs {
					if !strings.HasPrefix(in.Stream, m.name+"/") && strings.Contains(in.Cause, "refused") {
						return true
					}
				}
			}
		}
		return false
	}
	for m, reads := range map[*party][2]string{north: {"a", "south/b/out"}, south: {"b", "north/a/out"}} {
		src := strings.Replace(fmt.Sprintf(around, reads[0], reads[1]), "solo/", m.name+"/", 1)
		_, err := m.node.Deploy(t.Context(), "q.toml", []byte(src), false)
		require.NoError(t, err)
	}
	f.eventually(func() bool { return refused(north) && refused(south) }, "neither gets the other's results")
}
