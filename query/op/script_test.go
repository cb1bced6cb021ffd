package op_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"fednode/query/op"
	"fednode/query/op/optest"
	"fednode/query/tuple"
)

// TestScripts runs the scripts under testdata/ops. Commands:
//
//	operator KIND     lines "in NAME: schema" or "table NAME key=K match=M ttl=T limit=N: schema", then the declaration;
//	                  prints the plan, or every problem
//	rows NAME         a line a row, "stime: value …"; prints what is emitted
//	boundary NAME T   or "boundary all T"; T is a time since the epoch or "end"; prints what is emitted and the boundary
//	restart           goes on with an instance restored from a snapshot
//	counters          prints the totals
func TestScripts(t *testing.T) {
	datadriven.Walk(t, "testdata/ops", func(t *testing.T, path string) {
		s := &script{}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			out, err := s.command(d)
			if err != nil {
				d.Fatalf(t, "%v", err)
			}
			return out
		})
	})
}

// script is one operator under test.
type script struct {
	plan *op.Plan
	op   op.Operator
	in   []op.Input
	out  strings.Builder
}

// Batch prints what is emitted, a line a row; ports with a name come first on the line.
func (s *script) Batch(port int, b *tuple.Batch) error {
	for i := range b.Rows() {
		if name := s.plan.Ports[port].Name; name != "" {
			s.out.WriteString(name + " ")
		}
		s.out.Write(optest.AppendRow(nil, b, i))
		s.out.WriteByte('\n')
	}
	return nil
}

func (s *script) command(d *datadriven.TestData) (string, error) {
	s.out.Reset()
	var err error
	switch d.Cmd {
	case "operator":
		err = s.operator(d.CmdArgs[0].Key, d.Input)
	case "rows":
		err = s.rows(d.CmdArgs[0].Key, strings.Split(strings.TrimSpace(d.Input), "\n"))
	case "boundary":
		err = s.boundary(d.CmdArgs[0].Key, d.CmdArgs[1].Key)
	case "restart":
		err = s.restart()
	case "counters":
		c := s.op.Counters()
		fmt.Fprintf(&s.out, "in %d, out %d, dropped %d\n", c.RowsIn, c.RowsOut, c.Dropped)
	default:
		err = fmt.Errorf("no command %q", d.Cmd)
	}
	return s.out.String(), err
}

func (s *script) operator(kind, text string) error {
	var declaration []string
	s.in = nil
	for _, line := range strings.Split(text, "\n") {
		word, rest, _ := strings.Cut(line, " ")
		if word != "in" && word != "table" || strings.Contains(line, "=") && word == "in" || strings.HasPrefix(rest, "=") {
			declaration = append(declaration, line)
			continue
		}
		head, schema, _ := strings.Cut(rest, ": ")
		in := op.Input{}
		var err error
		if in.Schema, err = optest.Schema(schema); err != nil {
			return err
		}
		words := strings.Fields(head)
		in.Name = words[0]
		if word == "table" {
			in.Table = tableOf(words[1:])
		}
		s.in = append(s.in, in)
	}
	plan, err := optest.Build(kind, strings.Join(declaration, "\n"), s.in)
	if err != nil {
		fmt.Fprintln(&s.out, err)
		return nil
	}
	s.plan, s.op = plan, plan.New()
	for _, p := range plan.Ports {
		fmt.Fprintf(&s.out, "out %s: %v\n", p.Name, p.Schema)
	}
	fmt.Fprintf(&s.out, "%s\nstate: %s; %v, span %d\nreads: %v\n", plan.Detail, plan.State, plan.Convergence, plan.Span, plan.Reads)
	return nil
}

func tableOf(words []string) *op.Table {
	t := &op.Table{Match: "exact"}
	for _, w := range words {
		k, v, _ := strings.Cut(w, "=")
		switch k {
		case "key":
			t.Key = strings.Split(v, ",")
		case "match":
			t.Match = v
		case "ttl":
			t.TTL, _ = tuple.ParseDuration(v)
		case "limit":
			t.Limit, _ = strconv.ParseInt(v, 10, 64)
		}
	}
	return t
}

func (s *script) port(name string) int {
	for i, in := range s.in {
		if in.Name == name {
			return i
		}
	}
	return -1
}

func (s *script) rows(name string, lines []string) error {
	p := s.port(name)
	if p < 0 {
		return fmt.Errorf("no input %q", name)
	}
	b, err := optest.ParseRows(s.in[p].Schema, lines)
	if err != nil {
		return err
	}
	if err := s.op.Process(p, b, s); err != nil {
		fmt.Fprintln(&s.out, "error:", err)
	}
	return nil
}

func (s *script) boundary(name, at string) error {
	t := tuple.MaxTime
	if at != "end" {
		us, err := tuple.ParseDuration(at)
		if err != nil {
			return err
		}
		t = tuple.Time(us)
	}
	for p, in := range s.in {
		if name != "all" && name != in.Name {
			continue
		}
		got, err := s.op.Boundary(p, t, s)
		if err != nil {
			fmt.Fprintln(&s.out, "error:", err)
			return nil
		}
		if name == "all" && p < len(s.in)-1 {
			continue
		}
		switch got {
		case tuple.MinTime, tuple.MaxTime:
			fmt.Fprintf(&s.out, "boundary %v\n", got)
		default:
			fmt.Fprintf(&s.out, "boundary %s\n", tuple.AppendDuration(nil, int64(got)))
		}
	}
	return nil
}

func (s *script) restart() error {
	var e tuple.Encoder
	s.op.Snapshot(&e)
	s.op = s.plan.New()
	d := tuple.NewDecoder(e.B)
	s.op.Restore(d)
	return d.Close()
}
