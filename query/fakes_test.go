package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/op"
	"fednode/query/spec"
	"fednode/query/tuple"
)

// The kinds of these tests: pass hands rows on and holds its boundary back by a slack; tee has two ports; gather has any
// number of inputs and waits for all of them.
func fakeKinds() []op.Kind {
	one := func(name string, ports ...string) op.Kind {
		return op.Kind{Name: name, MinInputs: 1, MaxInputs: 1, Build: func(r *spec.Reader, in []op.Input) *op.Plan {
			return fakePlan(name, in, r.Duration("slack", 0, 0, tuple.Day), r.Bool("broken", false), ports...)
		}}
	}
	gather := op.Kind{Name: "gather", MinInputs: 1, MaxInputs: -1, Build: func(r *spec.Reader, in []op.Input) *op.Plan {
		return fakePlan("gather", in, 0, false, "")
	}}
	return []op.Kind{one("pass", ""), one("tee", "left", "right"), gather}
}

func fakePlan(kind string, in []op.Input, slack int64, broken bool, ports ...string) *op.Plan {
	p := &op.Plan{Kind: kind, Convergence: op.Convergent, State: "rows", Reads: make([][]string, len(in))}
	for _, name := range ports {
		p.Ports = append(p.Ports, op.Port{Name: name, Schema: in[0].Schema})
	}
	p.New = func() op.Operator {
		f := &fake{slack: slack, broken: broken, ports: len(ports), bounds: make([]tuple.Time, len(in))}
		for i := range f.bounds {
			f.bounds[i] = tuple.MinTime
		}
		return f
	}
	return p
}

type fake struct {
	slack  int64
	broken bool
	ports  int
	bounds []tuple.Time
	rows   uint64
}

var errBroken = errors.New("broken")

func (f *fake) Process(_ int, b *tuple.Batch, out op.Out) error {
	if f.broken {
		return &op.LimitError{What: "groups", Limit: 7}
	}
	f.rows += uint64(b.Rows())
	for p := range f.ports {
		if err := out.Batch(p, b); err != nil {
			return fmt.Errorf("on the way up: %w", err)
		}
	}
	return nil
}

func (f *fake) Boundary(in int, t tuple.Time, _ op.Out) (tuple.Time, error) {
	f.bounds[in] = t
	low := t
	for _, b := range f.bounds {
		low = min(low, b)
	}
	if low == tuple.MaxTime {
		return low, nil
	}
	return low.Add(-f.slack), nil
}

func (f *fake) Snapshot(e *tuple.Encoder) { e.Uint(f.rows); e.Times(f.bounds) }
func (f *fake) Restore(d *tuple.Decoder) {
	f.rows, f.bounds = d.Uint(), d.Times()
}

func (f *fake) Fork() op.Operator {
	g := *f
	g.bounds = append([]tuple.Time(nil), f.bounds...)
	return &g
}
func (f *fake) StateBytes() int64     { return int64(f.rows) }
func (f *fake) Counters() op.Counters { return op.Counters{RowsIn: f.rows} }

// fragmentOf parses a query with streams a and b and an output for each name, and returns its only fragment.
func fragmentOf(t testing.TB, operators string, outputs ...string) *FragmentPlan {
	t.Helper()
	src := "[query]\nname = \"q\"\n" + operators
	for _, s := range []string{"a", "b"} {
		src += fmt.Sprintf("\n[streams.%s]\nconnector = \"file\"\npath = \"x\"\n[streams.%s.columns]\nn = \"int64\"\n", s, s)
	}
	for _, o := range outputs {
		src += fmt.Sprintf("\n[outputs.%s]\nconnector = \"file\"\ninput = %q\n", strings.ReplaceAll(o, ".", "_"), o)
	}
	d, p := Parse("q.toml", []byte(src), Options{Kinds: fakeKinds()})
	require.NoError(t, p.Err())
	plan := NewPlan(d, Placement{}, p)
	require.NoError(t, p.Err())
	require.Len(t, plan.Fragments, 1)
	return plan.Fragments[0]
}

// transcript is an Out that writes down what it gets.
type transcript struct {
	lines []string
	err   error
}

func (t *transcript) Batch(o int, b *tuple.Batch) error {
	t.lines = append(t.lines, fmt.Sprintf("%d rows %d", o, b.Rows()))
	return t.err
}

func (t *transcript) Boundary(o int, at tuple.Time) error {
	t.lines = append(t.lines, fmt.Sprintf("%d until %s", o, timeText(at)))
	return t.err
}

func timeText(t tuple.Time) string {
	if t == tuple.MaxTime {
		return "end"
	}
	return string(tuple.AppendDuration(nil, int64(t)))
}

// take returns what was written since the last call.
func (t *transcript) take() string {
	s := strings.Join(t.lines, "; ")
	t.lines = nil
	return s
}

// rowsOf returns a batch of n rows from a stime on.
func rowsOf(n int, at tuple.Time) *tuple.Batch {
	b := tuple.NewBatchBuilder(tuple.MustSchema(tuple.Field{Name: "n", Type: tuple.Of(tuple.Int64)}))
	for i := range n {
		b.AppendInt(0, int64(i))
		b.EndRow(at.Add(int64(i)))
	}
	return b.Take()
}
