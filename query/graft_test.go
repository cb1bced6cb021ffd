package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// twoLanes are a chain behind each input, which have nothing in common.
const twoLanes = twoPasses + "\n[operators.other]\nkind = \"tee\"\ninput = \"b\"\n[operators.last]\nkind = \"gather\"\ninputs = [\"other.left\", \"other.right\"]\n[fragments.f]\noperators = [\"p\", \"s\", \"other\", \"last\"]"

// TestGraft shows that a snapshot made of two is that of an instance which has been fed what each lane of it had.
func TestGraft(t *testing.T) {
	f := fragmentOf(t, twoLanes, "s", "last")
	fed := func(a, b tuple.Time) []byte {
		i := NewInstance(f, &transcript{})
		for u, to := range []tuple.Time{a, b} {
			for at := tuple.Time(0); at < to; at += second {
				require.NoError(t, i.Process(u, rowsOf(1, at)))
			}
			require.NoError(t, i.Boundary(u, to))
		}
		var e tuple.Encoder
		i.Snapshot(&e)
		return e.B
	}
	const low, high = 3 * second, 11 * second
	mine, theirs := fed(low, high), fed(high, low)
	for _, c := range []struct {
		name string
		take []bool
		a, b tuple.Time
	}{
		{"nothing", []bool{false, false}, low, high},
		{"first", []bool{true, false}, high, high},
		{"second", []bool{false, true}, low, low},
		{"all", []bool{true, true}, high, low},
	} {
		got, err := f.Graft(mine, theirs, c.take)
		require.NoError(t, err, c.name)
		require.Equal(t, fed(c.a, c.b), got, c.name)
	}
}

// TestGraftRefuses shows that damage, and a snapshot of another fragment, give an error.
func TestGraftRefuses(t *testing.T) {
	f := fragmentOf(t, twoLanes, "s", "last")
	var e tuple.Encoder
	NewInstance(f, &transcript{}).Snapshot(&e)
	take := []bool{true, true}
	for n := range e.B {
		_, err := f.Graft(e.B, e.B[:n], take)
		require.ErrorIs(t, err, tuple.ErrCorrupt, "cut at %d", n)
	}
	_, err := f.Graft(e.B, snapshotOf(t, fragmentOf(t, twoPasses, "s")), take)
	require.ErrorIs(t, err, tuple.ErrCorrupt)
	require.ErrorContains(t, err, "without SUnion")
}
