package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// canonicalSource is a query with everything that the canonical form has to carry.
const canonicalSource = `
[query]
name = "q"
max_delay = "1500ms"
consistency = "eventual"
durable_level = 2
redo = "undo"
description = "not part of it"

[streams.b]
connector = "file"
path = "/secret"
password = "p\"w\u0001"
place = { node = "n1" }
columns = { "id.orig" = "int64", n = { type = "int64", field = "x" } }

[streams.a]
connector = "node"
stream = "south/conns"
[streams.a.columns]
"id.orig" = { type = "int64", form = "pseudonym", key = "contract:c-1" }
n = "int64"

[operators.z]
kind = "pass"
input = "a"
slack = "5s"

[operators.m]
kind = "tee"
input = "z"

[outputs.o]
connector = "file"
path = "/out"
input = "m.left"

[outputs.n]
connector = "file"
input = "b"
path = "/n"

[fragments.edge]
operators = ["z", "m"]
replicas = 3
place = { labels = { region = "eu", "a b" = "c" }, org = "south" }
`

func parseFakes(t testing.TB, src string) *Diagram {
	t.Helper()
	d, p := Parse("q.toml", []byte(src), Options{Kinds: fakeKinds(), Placement: Placement{Home: Place{Org: "north", Node: "n1"}}})
	require.NoError(t, p.Err())
	return d
}

func TestCanonicalForm(t *testing.T) {
	d := parseFakes(t, canonicalSource)
	require.Equal(t, `[query]
bucket = "100ms"
consistency = "eventual"
durable_level = 2
failure = "delay"
max_delay = "1.5s"
name = "q"
redo = "undo"
semantics = 1
stabilization = "process"

[streams.a]
connector = "node"
stream = "south/conns"

[streams.a.columns]
"id.orig" = {form = "pseudonym", key = "contract:c-1", type = "int64"}
n = "int64"

[streams.b]
connector = "node"
place = {node = "n1"}
stream = "north/q.b"

[streams.b.columns]
"id.orig" = "int64"
n = "int64"

[operators.m]
input = "z"
kind = "tee"

[operators.z]
input = "a"
kind = "pass"
slack = "5s"

[outputs.n]
connector = "sink"
input = "b"

[outputs.o]
connector = "sink"
input = "m.left"

[fragments.edge]
operators = ["m", "z"]
place = {labels = {"a b" = "c", region = "eu"}, org = "south"}
replicas = 3
`, string(d.Canonical("north")))
}

// A host that reads the canonical form of a descriptor plans the same fragments as the query's owner.
func TestCanonicalFormPlansTheSame(t *testing.T) {
	d := parseFakes(t, canonicalSource)
	canonical := d.Canonical("north")
	again := parseFakes(t, string(canonical))
	require.Equal(t, string(canonical), string(again.Canonical("north")))
	require.Equal(t, d.Hash("north"), again.Hash("north"))
	require.Equal(t, shape(d), shape(again))
}

// shape prints what two plans must agree on.
func shape(d *Diagram) string {
	var b strings.Builder
	p := NewPlan(d, Placement{Home: Place{Org: "north", Node: "n1"}}, nil)
	for _, f := range p.Fragments {
		fmt.Fprintf(&b, "%s %v %d %v", f.Name, f.Place, f.Replicas, f.Kinds())
		for _, in := range f.Inputs {
			fmt.Fprintf(&b, " in %s %v %v", in.Stream, in.Place, in.Schema)
		}
		for _, u := range f.Unions {
			fmt.Fprintf(&b, " union %v %v", u.Inputs, u.to)
		}
		for _, o := range f.Operators {
			fmt.Fprintf(&b, " op %s %x %v", o.Name, o.Fingerprint, o.to)
		}
		for _, o := range f.Outputs {
			fmt.Fprintf(&b, " out %s", o.Stream)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// The order of sections and of keys whose order means nothing changes neither hash; a connector's keys change only that
// of the content.
func TestHashes(t *testing.T) {
	d := parseFakes(t, canonicalSource)
	sections := strings.Split(canonicalSource, "\n\n")
	for i, j := 0, len(sections)-1; i < j; i, j = i+1, j-1 {
		sections[i], sections[j] = sections[j], sections[i]
	}
	for name, c := range map[string]struct {
		src           string
		hash, content bool // the same
	}{
		"sections turned round":  {strings.Join(sections, "\n\n"), true, true},
		"keys turned round":      {strings.Replace(canonicalSource, "kind = \"pass\"\ninput = \"a\"", "input = \"a\"\nkind = \"pass\"", 1), true, true},
		"labels turned round":    {strings.Replace(canonicalSource, `region = "eu", "a b" = "c"`, `"a b" = "c", region = "eu"`, 1), true, true},
		"another path":           {strings.Replace(canonicalSource, "/secret", "/other", 1), true, false},
		"another description":    {strings.Replace(canonicalSource, "not part", "no part", 1), true, true},
		"columns turned round":   {strings.Replace(canonicalSource, `"id.orig" = "int64", n = { type = "int64", field = "x" }`, `n = { type = "int64", field = "x" }, "id.orig" = "int64"`, 1), false, false},
		"another slack":          {strings.Replace(canonicalSource, `slack = "5s"`, `slack = "6s"`, 1), false, false},
		"another delay":          {strings.Replace(canonicalSource, "1500ms", "1501ms", 1), false, false},
		"the same delay, longer": {strings.Replace(canonicalSource, "1500ms", "1.5s", 1), true, true},
		"more replicas":          {strings.Replace(canonicalSource, "replicas = 3", "replicas = 4", 1), false, false},
	} {
		require.NotEqual(t, canonicalSource, c.src, name)
		other := parseFakes(t, c.src)
		require.Equal(t, c.hash, d.Hash("north") == other.Hash("north"), name)
		require.Equal(t, c.content, d.ContentHash("north") == other.ContentHash("north"), name)
	}
}

func TestFloatText(t *testing.T) {
	for _, src := range []string{"0.5", "1.0", "1e+300", "-2.25", "inf", "-inf", "nan", "1e-07"} {
		d := parseFakes(t, strings.Replace(canonicalSource, `password = "p\"w\u0001"`, "x = "+src, 1))
		v := d.Stream("b").Keys.Lookup("x").Value
		require.Equal(t, src, floatText(v.Float))
	}
}
