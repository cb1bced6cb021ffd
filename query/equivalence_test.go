package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"fednode/query"
	"fednode/query/querytest"
	"fednode/query/tuple"
)

// Wherever a diagram is cut and however its input arrives, the stable results are the same: random diagrams, cuts, places
// and feeds, each run whole in one fragment and then cut up.
func TestCutsDoNotChangeResults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := &generator{r: r}
		src := g.diagram()
		lines := map[bool]string{}
		for _, local := range []bool{true, false} {
			at := query.Placement{Home: query.Place{Org: "north", Node: "n1"}, Local: local}
			d, p := query.Parse("q.toml", []byte(src), query.Options{Placement: at})
			require.NoError(r, p.Err(), src)
			feed := g.feed(d)
			v := querytest.Variants()[0]
			if !local {
				v = rapid.SampledFrom(querytest.Variants()).Draw(r, "variant")
			}
			got, err := querytest.Run(query.NewPlan(d, at, p), feed, v)
			require.NoError(r, err, src)
			lines[local] = strings.Join(got, "\n")
		}
		require.Equal(r, lines[true], lines[false], src)
	})
}

// generator draws diagrams over streams of (k string, n int64); every operator keeps that schema.
type generator struct {
	r     *rapid.T
	b     strings.Builder
	names []string // what can be read
	ops   []string
	rows  map[string][]row
}

type row struct {
	at int64
	k  string
	n  int64
}

func (g *generator) pick(label string) string {
	return rapid.SampledFrom(g.names).Draw(g.r, label)
}

func (g *generator) diagram() string {
	fmt.Fprintf(&g.b, "[query]\nname = \"q\"\nmax_delay = \"inf\"\nbucket = \"%dms\"\n", rapid.SampledFrom([]int{100, 1000, 5000}).Draw(g.r, "bucket"))
	g.rows = map[string][]row{}
	for i := range rapid.IntRange(1, 3).Draw(g.r, "streams") {
		name := fmt.Sprintf("s%d", i)
		fmt.Fprintf(&g.b, "[streams.%s]\nconnector = \"node\"\nstream = \"%s/x%d\"\ncolumns = { k = \"string\", n = \"int64\" }\n", name, g.org(), i)
		g.names = append(g.names, name)
		g.rows[name] = g.draw(name)
	}
	for i := range rapid.IntRange(1, 7).Draw(g.r, "operators") {
		g.operator(fmt.Sprintf("o%d", i))
	}
	for i, name := range g.names {
		if i == len(g.names)-1 || rapid.IntRange(0, 3).Draw(g.r, "output") == 0 {
			fmt.Fprintf(&g.b, "[outputs.out%d]\nconnector = \"node\"\ninput = %q\nplace = { org = %q }\n", i, name, g.org())
		}
	}
	// Single operators are always convex, so any number of these cuts is allowed.
	for _, o := range g.ops {
		if rapid.IntRange(0, 2).Draw(g.r, "cut") == 0 {
			fmt.Fprintf(&g.b, "[fragments.%s]\noperators = [%q]\nplace = { org = %q }\n", o, o, g.org())
		}
	}
	return g.b.String()
}

func (g *generator) org() string {
	return rapid.SampledFrom([]string{"north", "south", "east"}).Draw(g.r, "org")
}

// operator adds one operator, with what follows it to keep the schema.
func (g *generator) operator(name string) {
	in := g.pick("input")
	switch rapid.IntRange(0, 6).Draw(g.r, "kind") {
	case 0:
		g.declare(name, "kind = \"filter\"\ninput = %q\nwhere = \"n %% 3 <> 0\"", in)
	case 1:
		g.declare(name, "kind = \"map\"\ninput = %q\ncolumns = { k = \"k\", n = \"n * 2 - 1\" }", in)
	case 2:
		other := g.pick("second input")
		g.declare(name, "kind = \"union\"\ninputs = [%q, %q]", in, other)
	case 3:
		g.declare(name+"a", "kind = \"aggregate\"\ninput = %q\nwindow = { tumbling = \"3s\" }\ngroup_by = [\"k\"]\naggregates = { c = \"count()\", m = \"max(n)\", s = \"sum(n)\" }", in)
		g.declare(name, "kind = \"map\"\ninput = %q\ncolumns = { k = \"k\", n = \"c + m + s\" }", name+"a")
	case 4:
		g.declare(name, "kind = \"join\"\nleft = %q\nright = %q\non = [\"k\"]\nwithin = \"1s\"\ncolumns = { n = \"left.n\" }", in, g.pick("right input"))
	case 5:
		g.declare(name+"r", "kind = \"router\"\ninput = %q\nmode = \"first\"\nroutes = [{ name = \"odd\", where = \"n %% 2 = 1\" }]\nrest = \"even\"", in)
		g.declare(name, "kind = \"union\"\ninputs = [%q, %q]", name+"r.even", name+"r.odd")
	case 6:
		g.declare(name, "kind = \"dedup\"\ninput = %q\nby = [\"k\"]\nwithin = \"2s\"", in)
	}
	g.names = append(g.names, name)
}

func (g *generator) declare(name, format string, args ...any) {
	fmt.Fprintf(&g.b, "[operators.%s]\n"+format+"\n", append([]any{name}, args...)...)
	g.ops = append(g.ops, name)
}

// draw makes the rows of a stream, in order of stime.
func (g *generator) draw(stream string) []row {
	var rows []row
	at := int64(0)
	for range rapid.IntRange(0, 25).Draw(g.r, "rows of "+stream) {
		at += int64(rapid.SampledFrom([]int{0, 1, 250, 1000, 4000}).Draw(g.r, "pause")) * 1000
		rows = append(rows, row{at, rapid.SampledFrom([]string{"a", "b", "c"}).Draw(g.r, "k"), int64(rapid.IntRange(-9, 9).Draw(g.r, "n"))})
	}
	return rows
}

// feed sends the rows in one batch a stream, some boundaries, and the end.
func (g *generator) feed(d *query.Diagram) *querytest.Feed {
	f := querytest.NewFeed(d)
	for _, s := range d.Streams {
		b := tuple.NewBatchBuilder(s.Schema)
		for _, r := range g.rows[s.Name] {
			b.AppendBin(0, []byte(r.k))
			b.AppendInt(1, r.n)
			b.EndRow(tuple.Time(r.at))
		}
		if b.Rows() > 0 {
			f.Batch(s.Name, b.Take())
		}
	}
	f.End()
	return f
}
