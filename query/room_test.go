package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/expr"
	"fednode/query/op"
	"fednode/query/tuple"
)

// doubling returns a fragment whose last operator has texts of 2^steps times the first one's length.
func doubling(t *testing.T, steps int, last string) *FragmentPlan {
	t.Helper()
	src := "[query]\nname = \"q\"\n[streams.a]\nconnector = \"file\"\npath = \"x\"\n[streams.a.columns]\nn = \"int64\"\n" +
		"[operators.m0]\nkind = \"map\"\ninput = \"a\"\ncolumns = { s = \"concat(cast(n as string), '-')\" }\n"
	for i := range steps {
		src += fmt.Sprintf("[operators.m%d]\nkind = \"map\"\ninput = \"m%d\"\ncolumns = { s = \"s || s\" }\n", i+1, i)
	}
	src += strings.ReplaceAll(last, "IN", fmt.Sprintf("m%d", steps)) + "\n[outputs.o]\nconnector = \"file\"\npath = \"o.csv\"\ninput = \"last\"\n"
	d, p := Parse("q.toml", []byte(src), Options{Kinds: op.Kinds()})
	require.NoError(t, p.Err())
	plan := NewPlan(d, Placement{}, p)
	require.NoError(t, p.Err())
	require.Len(t, plan.Fragments, 1)
	return plan.Fragments[0]
}

// kindsThatCompute are declarations that end a chain, of every kind of operator with expressions.
func kindsThatCompute() map[string]string {
	return map[string]string{
		"filter":    "[operators.last]\nkind = \"filter\"\ninput = \"IN\"\nwhere = \"length(concat(s, s)) > 0\"",
		"aggregate": "[operators.last]\nkind = \"aggregate\"\ninput = \"IN\"\nwindow = { tumbling = \"1s\" }\naggregates = { m = \"max(concat(s, s))\" }",
		"session":   "[operators.last]\nkind = \"aggregate\"\ninput = \"IN\"\nwindow = { session = \"1s\" }\naggregates = { m = \"max(concat(s, s))\" }",
		"count":     "[operators.last]\nkind = \"aggregate\"\ninput = \"IN\"\nwindow = { count = 10 }\naggregates = { m = \"max(concat(s, s))\" }",
	}
}

// TestTextsWithoutEnd: operators that make ever longer texts stop their fragment where the texts of a batch find no room, and
// nothing is handed on that was made when there was none. What has room goes through.
func TestTextsWithoutEnd(t *testing.T) {
	for name, last := range kindsThatCompute() {
		for _, steps := range []int{2, 12} {
			t.Run(fmt.Sprintf("%s/%d", name, steps), func(t *testing.T) {
				out := &transcript{}
				i := NewInstance(doubling(t, steps, last), out)
				i.side.room = expr.NewRoom(1 << 20)
				for n := range i.nodes {
					op.Share(i.nodes[n].op, i.side.room)
				}
				err := i.Process(0, rowsOf(500, second))
				if err == nil {
					err = i.Boundary(0, tuple.MaxTime)
				}
				if steps == 2 {
					require.NoError(t, err)
					require.Contains(t, out.take(), "rows")
					return
				}
				var limit *op.LimitError
				require.ErrorAs(t, err, &limit)
				require.EqualValues(t, 1<<20, limit.Limit)
				var at *OperatorError
				require.ErrorAs(t, err, &at)
				require.NotContains(t, out.take(), "rows")
			})
		}
	}
}

// TestEachSideHasRoom: a fork's operators share a room that is not the instance's.
func TestEachSideHasRoom(t *testing.T) {
	i := NewInstance(doubling(t, 3, kindsThatCompute()["filter"]), &transcript{})
	f := i.Fork(&transcript{})
	require.NotSame(t, i.side.room, f.side.room)
	f.side.room = expr.NewRoom(1)
	for n := range f.nodes {
		op.Share(f.nodes[n].op, f.side.room)
	}
	require.Error(t, f.Process(0, rowsOf(5, second)))
	require.NoError(t, i.Process(0, rowsOf(5, second)))
}
