package query_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"fednode/query"
	"fednode/query/querytest"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// TestScripts runs testdata/*.txt. Commands:
//
//	parse [home=org/node] [local] [connectors]   the input is a query file; prints its problems and warnings, or ok
//	plan                                         fragments, SUnions and outputs of the last query
//	explain format=text|json|dot|mermaid         the last query
//	canonical                                    its canonical form
//	rows stream=NAME                             what a source sends (see querytest.Feed.Rows)
//	boundary stream=NAME t=90s
//	run                                          ends every stream and prints the results, checked to be equal for every
//	                                             variant of querytest.Variants
//	run ongoing                                  the same without the end
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		if !strings.HasSuffix(path, ".txt") {
			return
		}
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string { return s.command(t, d) })
	})
}

// script is the state between the commands of one file.
type script struct {
	plan *query.Plan
	feed *querytest.Feed
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	if d.Cmd == "parse" {
		return s.parse(d)
	}
	if s.plan == nil {
		return "no query"
	}
	switch d.Cmd {
	case "plan":
		return renderPlan(s.plan)
	case "explain":
		return explain(t, s.plan, d)
	case "canonical":
		return string(s.plan.Diagram.Canonical(s.plan.Placement.Home.Org))
	case "rows":
		require.NoError(t, s.feed.Rows(argument(d, "stream"), d.Input), d.Pos)
		return ""
	case "boundary":
		until, err := tuple.ParseDuration(argument(d, "t"))
		require.NoError(t, err, d.Pos)
		require.NoError(t, s.feed.Boundary(argument(d, "stream"), tuple.Time(until)), d.Pos)
		return ""
	case "run":
		return s.run(d)
	}
	return "unknown command " + d.Cmd
}

// parse reads a query for the commands that follow.
func (s *script) parse(d *datadriven.TestData) string {
	s.plan, s.feed = nil, nil
	o := query.Options{Env: testEnv, Placement: placement(d)}
	if d.HasArg("connectors") {
		o.Connectors = testConnectors{}
	}
	diagram, p := query.Parse("q.toml", []byte(d.Input), o)
	var b strings.Builder
	if err := p.Err(); err != nil {
		b.WriteString(err.Error() + "\n")
	}
	for _, w := range p.Warnings {
		b.WriteString("warning: " + w.Error() + "\n")
	}
	if diagram == nil {
		return b.String()
	}
	s.plan = query.NewPlan(diagram, o.Placement, p)
	s.feed = querytest.NewFeed(diagram)
	return b.String() + "ok\n"
}

// run runs the feed in every variant.
func (s *script) run(d *datadriven.TestData) string {
	if !d.HasArg("ongoing") {
		s.feed.End()
	}
	var first []string
	for i, v := range querytest.Variants() {
		lines, err := querytest.Run(s.plan, s.feed, v)
		if err != nil {
			return v.Name + ": " + err.Error() + "\n"
		}
		if i == 0 {
			first = lines
		} else if got, want := strings.Join(lines, "\n"), strings.Join(first, "\n"); got != want {
			return fmt.Sprintf("other results with %q:\n%s\ninstead of\n%s\n", v.Name, got, want)
		}
	}
	s.feed = querytest.NewFeed(s.plan.Diagram)
	if len(first) == 0 {
		return "no results\n"
	}
	return strings.Join(first, "\n") + "\n"
}

func explain(t *testing.T, p *query.Plan, d *datadriven.TestData) string {
	e := query.Explain(p)
	switch f := argument(d, "format"); f {
	case "text":
		return e.Text()
	case "json":
		return e.JSON()
	case "dot":
		return e.Dot()
	case "mermaid":
		return e.Mermaid()
	default:
		require.Fail(t, "unknown format "+f, d.Pos)
		return ""
	}
}

// renderPlan prints what the node needs to know of each fragment.
func renderPlan(p *query.Plan) string {
	var b strings.Builder
	for _, f := range p.Fragments {
		fmt.Fprintf(&b, "%s at %s x%d kinds=%s\n", f.Name, f.Place, f.Replicas, strings.Join(f.Kinds(), ","))
		for _, in := range f.Inputs {
			from := "source"
			if in.Fragment != "" {
				from = "fragment " + in.Fragment
			}
			fmt.Fprintf(&b, "  in %s from %s at %s\n", in.Stream, from, in.Place)
		}
		for i, u := range f.Unions {
			fmt.Fprintf(&b, "  sunion %d of inputs %v operator=%q unordered=%t depth=%d/%d outputs=%v\n", i, u.Inputs, u.Operator, u.Unordered, u.Depth, u.Path, u.Outputs)
		}
		for _, o := range f.Operators {
			fmt.Fprintf(&b, "  %s %s of %s\n", o.Plan.Kind, o.Name, strings.Join(o.Inputs, ", "))
		}
		for _, o := range f.Outputs {
			fmt.Fprintf(&b, "  out %s of %s needs sunions %v\n", o.Stream, o.Edge, o.Unions)
		}
	}
	for _, o := range p.Outputs {
		fmt.Fprintf(&b, "output %s reads %s at %s\n", o.Output.Name, o.Stream, o.Place)
	}
	fmt.Fprintf(&b, "J=%d\n", p.Depth)
	return b.String()
}

// placement reads home=org/node and local.
func placement(d *datadriven.TestData) query.Placement {
	p := query.Placement{Local: d.HasArg("local")}
	if d.HasArg("home") {
		p.Home.Org, p.Home.Node, _ = strings.Cut(argument(d, "home"), "/")
	}
	return p
}

func argument(d *datadriven.TestData, key string) string {
	for _, a := range d.CmdArgs {
		if a.Key == key && len(a.Vals) > 0 {
			return a.Vals[0]
		}
	}
	return ""
}

// testEnv is the environment that scripts see.
func testEnv(name string) (string, bool) {
	if name == "DATA" {
		return "/var/data", true
	}
	return "", false
}

// testConnectors knows one source that ends, one that does not, and one sink.
type testConnectors struct{}

func (testConnectors) SourceNames() []string { return []string{"file", "generate", "http"} }
func (testConnectors) SinkNames() []string   { return []string{"file"} }

func (testConnectors) Source(s *query.Stream, r *spec.Reader) query.Traits {
	switch s.Connector {
	case "file":
		r.NeedString("path")
		t := query.Traits{Bounded: !r.Bool("follow", false)}
		if r.OneOf("format", "csv", "csv", "zeek") == "zeek" {
			t.LateBy = "Zeek writes a connection when it ends, with its start time"
		}
		return t
	case "generate":
		return query.Traits{Bounded: r.Int("rows", 0, 0, 1<<40) > 0, Replayed: true, Time: "ts", Fields: []tuple.Field{
			{Name: "ts", Type: tuple.Of(tuple.Timestamp)}, {Name: "n", Type: tuple.Of(tuple.Int64)}}}
	}
	return query.Traits{}
}

func (testConnectors) Sink(_ *query.Output, r *spec.Reader) { r.NeedString("path") }

// quiet is an Out that drops everything.
type quiet struct{}

func (quiet) Batch(int, *tuple.Batch) error  { return nil }
func (quiet) Boundary(int, tuple.Time) error { return nil }
