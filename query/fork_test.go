package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/op"
	"fednode/query/tuple"
)

// Stream a goes through p to g and, beside it, to the output p; g waits for both a and b; q reads b alone.
const gathered = `
[operators.p]
kind = "pass"
input = "a"
[operators.q]
kind = "pass"
input = "b"
[operators.g]
kind = "gather"
inputs = ["p", "a", "b"]`

// What the instance's own part hands to affected operators reaches the fork, and only that is copied.
func TestForkGetsWhatTheInstanceIsFed(t *testing.T) {
	f := fragmentOf(t, gathered, "g", "p", "q")
	out, tentative := &transcript{}, &transcript{}
	i := NewInstance(f, out)
	require.NoError(t, i.Boundary(0, 5*second))
	fork := i.ForkAffected([]bool{false, true}, tentative)
	require.Equal(t, []bool{false, true}, []bool{fork.Affected(0), fork.Affected(1)})
	require.Equal(t, []bool{true, false, true}, []bool{fork.AffectedOutput(0), fork.AffectedOutput(1), fork.AffectedOutput(2)}, "g, p, q")
	out.take()

	require.NoError(t, i.Process(0, rowsOf(3, 6*second)))
	require.NoError(t, i.Boundary(0, 9*second))
	require.Equal(t, "0 rows 3; 1 rows 3; 0 rows 3; 1 until 9s", out.take(), "the parked gather waits for b")
	require.Equal(t, "0 rows 3; 0 rows 3", tentative.take(), "through p and beside it")
	require.NoError(t, fork.Process(1, rowsOf(2, 6*second)))
	require.NoError(t, fork.Boundary(1, 8*second))
	require.Equal(t, "0 rows 2; 2 rows 2; 0 until 8s; 2 until 8s", tentative.take())
	require.Empty(t, out.take())
	require.EqualValues(t, 6+2+2, fork.StateBytes(), "g and q")
	require.EqualValues(t, 3+6, i.StateBytes(), "p and g")

	require.NoError(t, fork.Boundary(1, 8*second))
	require.Empty(t, tentative.take(), "nothing new")
	require.Equal(t, 8*second, fork.UnionBoundary(1))
	require.Equal(t, tuple.MinTime, i.unions[1].boundary)
}

// An extended fork copies what it adds as it stands in the instance, and gets it from the caller from then on.
func TestForkExtends(t *testing.T) {
	f := fragmentOf(t, gathered, "g", "p")
	tentative := &transcript{}
	i := NewInstance(f, &transcript{})
	fork := i.ForkAffected([]bool{false, true}, tentative)
	require.NoError(t, i.Process(0, rowsOf(3, 0)))
	require.NoError(t, i.Boundary(0, 4*second))
	require.EqualValues(t, 6, fork.StateBytes())
	tentative.take()

	fork.Extend([]bool{true, false})
	require.True(t, fork.Affected(0) && fork.Affected(1) && fork.AffectedOutput(1))
	require.EqualValues(t, 6+3, fork.StateBytes(), "g goes on, p is copied with what it has seen")
	require.NoError(t, i.Process(0, rowsOf(4, 5*second)))
	require.Empty(t, tentative.take(), "the instance feeds it no longer")
	require.NoError(t, fork.Boundary(0, 4*second))
	require.Empty(t, tentative.take(), "where the instance stood")
	require.NoError(t, fork.Process(0, rowsOf(1, 5*second)))
	require.Equal(t, "0 rows 1; 1 rows 1; 0 rows 1", tentative.take())
}

// A dropped fork gets nothing, and another beside it goes on.
func TestForkDrop(t *testing.T) {
	i := NewInstance(fragmentOf(t, gathered, "g"), &transcript{})
	first, second := &transcript{}, &transcript{}
	one, two := i.ForkAffected([]bool{false, true}, first), i.ForkAffected([]bool{false, true}, second)
	one.Drop()
	one.Drop()
	one.Extend([]bool{true, true})
	require.NoError(t, i.Process(0, rowsOf(3, 0)))
	require.Empty(t, first.take())
	require.Equal(t, "0 rows 3; 0 rows 3", second.take())
	require.ErrorIs(t, one.Process(1, rowsOf(1, 0)), errDropped)
	require.ErrorIs(t, one.Boundary(1, 7), errDropped)
	require.NoError(t, two.Err())
	require.Zero(t, one.StateBytes())
	two.Drop()
	for u := range i.unions {
		require.Empty(t, i.unions[u].ports[0].tees)
	}
	for n := range i.nodes {
		require.Empty(t, i.nodes[n].ports[0].tees)
	}
}

// What breaks in a fork ends the fork alone, and it takes nothing more; what breaks in the instance is no fork's error.
func TestForkErrorsAreItsOwn(t *testing.T) {
	f := fragmentOf(t, gathered+"\n[operators.x]\nkind = \"pass\"\ninput = \"b\"\nbroken = true", "g", "x")
	tentative := &transcript{err: errBroken}
	i := NewInstance(f, &transcript{})
	fork := i.ForkAffected([]bool{false, true}, tentative)
	require.NoError(t, i.Process(0, rowsOf(1, 0)))
	require.Equal(t, errBroken, fork.Err(), "its output's, as it is")
	require.NoError(t, i.Process(0, rowsOf(1, 0)))
	require.NoError(t, i.Boundary(0, second))
	require.Equal(t, "0 rows 1", tentative.take(), "nothing after the error")
	require.Equal(t, errBroken, fork.Process(1, rowsOf(1, 0)))
	require.Equal(t, errBroken, fork.Boundary(1, second))
	fork.Drop()
	require.Equal(t, errBroken, fork.Err())

	fork = i.ForkAffected([]bool{false, true}, &transcript{})
	err := fork.Process(1, rowsOf(1, 0))
	var oe *OperatorError
	require.ErrorAs(t, err, &oe)
	require.Equal(t, "x", oe.Operator)
	var limit *op.LimitError
	require.ErrorAs(t, err, &limit)
	require.NoError(t, i.Boundary(0, 2*second))

	fork = i.ForkAffected([]bool{true, false}, &transcript{})
	require.ErrorContains(t, fork.Process(1, rowsOf(1, 0)), "SUnion q.b of fragment x is not affected")
	require.NoError(t, fork.Err(), "the caller's mistake ends nothing")
	require.Error(t, i.Process(1, rowsOf(1, 0)))
	require.NoError(t, fork.Err())
	require.Equal(t, i.err, i.ForkAffected([]bool{true, false}, &transcript{}).Err(), "the fork of a spent instance is spent")
}
