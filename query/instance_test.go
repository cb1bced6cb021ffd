package query

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/op"
	"fednode/query/tuple"
)

const second = tuple.Time(tuple.Second)

// Everything that reads a port gets its batches, and a boundary goes on only where it rose.
func TestInstanceFansOut(t *testing.T) {
	f := fragmentOf(t, `
[operators.t]
kind = "tee"
input = "a"
[operators.p]
kind = "pass"
input = "t.left"
slack = "10s"
[operators.g]
kind = "gather"
inputs = ["p", "t.right", "b"]`, "g", "t.right")
	out := &transcript{}
	i := NewInstance(f, out)
	require.Equal(t, "q/g", f.Outputs[0].Stream)
	require.Equal(t, "q/t_right", f.Outputs[1].Stream)

	require.NoError(t, i.Process(0, rowsOf(3, 0)))
	require.Equal(t, "0 rows 3; 0 rows 3; 1 rows 3", out.take(), "through p, beside it, and out of the router's port")

	require.NoError(t, i.Boundary(0, 30*second))
	require.Equal(t, "1 until 30s", out.take(), "g waits for b")
	require.NoError(t, i.Boundary(1, 25*second))
	require.Equal(t, "0 until 20s", out.take(), "p holds its boundary back by its slack")
	require.NoError(t, i.Boundary(1, 25*second))
	require.NoError(t, i.Boundary(1, 24*second))
	require.Empty(t, out.take(), "nothing new")
	require.NoError(t, i.Boundary(1, tuple.MaxTime))
	require.Empty(t, out.take(), "p still holds g")
	require.NoError(t, i.Boundary(0, tuple.MaxTime))
	require.Equal(t, "0 until 30s; 0 until end; 1 until end", out.take(), "through p first, then beside it")

	require.NoError(t, i.Process(0, rowsOf(0, 0)))
	require.Empty(t, out.take(), "an empty batch is nothing")
}

func TestInstanceStatus(t *testing.T) {
	f := fragmentOf(t, "[operators.g]\nkind = \"gather\"\ninputs = [\"a\", \"b\"]\n[operators.p]\nkind = \"pass\"\ninput = \"a\"", "g", "p")
	i := NewInstance(f, &transcript{})
	require.NoError(t, i.Process(0, rowsOf(5, 0)))
	require.NoError(t, i.Boundary(0, 30*second))
	require.NoError(t, i.Boundary(1, 10*second))
	s := i.Status()
	require.Equal(t, []UnionStatus{{Name: "q.a", Boundary: 30 * second}, {Name: "q.b", Boundary: 10 * second}}, s.Unions)
	require.Equal(t, OperatorStatus{Name: "g", Kind: "gather", Counters: op.Counters{RowsIn: 5}, StateBytes: 5,
		Boundary: 10 * second, Lag: 20 * tuple.Second, HeldBy: "b"}, s.Operators[0])
	require.Equal(t, "", s.Operators[1].HeldBy)
	require.Zero(t, s.Operators[1].Lag)
	require.EqualValues(t, 10, i.StateBytes())
}

// An error names the operator that made it, once, and ends the instance; an error of the output is nobody's.
func TestInstanceErrors(t *testing.T) {
	f := fragmentOf(t, `
[operators.p]
kind = "pass"
input = "a"
[operators.x]
kind = "pass"
input = "p"
broken = true`, "x")
	i := NewInstance(f, &transcript{})
	err := i.Process(0, rowsOf(1, 0))
	var oe *OperatorError
	require.ErrorAs(t, err, &oe)
	require.Equal(t, OperatorError{Query: "q", Fragment: "x", Operator: "x", Err: oe.Err}, *oe)
	var limit *op.LimitError
	require.ErrorAs(t, err, &limit)
	require.Equal(t, err, i.Process(0, rowsOf(1, 0)))
	require.Equal(t, err, i.Boundary(0, second))
	require.Equal(t, err, i.Status().Err)
	require.Equal(t, err, i.Fork(&transcript{}).Boundary(0, second))

	i = NewInstance(fragmentOf(t, "[operators.p]\nkind = \"pass\"\ninput = \"a\"", "p"), &transcript{err: errBroken})
	require.Equal(t, errBroken, i.Process(0, rowsOf(1, 0)))
	require.False(t, errors.As(i.Status().Err, &oe))
	i = NewInstance(fragmentOf(t, "[operators.p]\nkind = \"pass\"\ninput = \"a\"", "p"), &transcript{err: errBroken})
	require.Equal(t, errBroken, i.Boundary(0, second))
}

func TestInstanceFork(t *testing.T) {
	f := fragmentOf(t, "[operators.g]\nkind = \"gather\"\ninputs = [\"a\", \"b\"]", "g")
	i := NewInstance(f, &transcript{})
	require.NoError(t, i.Boundary(0, 9*second))
	out := &transcript{}
	fork := i.Fork(out)
	require.NoError(t, fork.Process(0, rowsOf(4, 10*second)))
	require.NoError(t, fork.Boundary(1, 3*second))
	require.Equal(t, "0 rows 4; 0 until 3s", out.take())
	require.EqualValues(t, 4, fork.StateBytes())
	require.Zero(t, i.StateBytes())
	require.Equal(t, tuple.MinTime, i.Status().Operators[0].Boundary)
}
