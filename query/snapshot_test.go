package query

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

const twoPasses = "[operators.p]\nkind = \"pass\"\ninput = \"a\"\n[operators.s]\nkind = \"pass\"\ninput = \"p\"\nslack = \"5s\""

// snapshotOf runs a fragment for a while and returns its snapshot.
func snapshotOf(t *testing.T, f *FragmentPlan) []byte {
	i := NewInstance(f, &transcript{})
	require.NoError(t, i.Process(0, rowsOf(7, 0)))
	require.NoError(t, i.Boundary(0, 30*second))
	var e tuple.Encoder
	i.Snapshot(&e)
	return e.B
}

func TestRestoreGoesOn(t *testing.T) {
	f := fragmentOf(t, twoPasses, "s")
	snap := snapshotOf(t, f)
	out := &transcript{}
	i, report, err := RestoreInstance(f, out, tuple.NewDecoder(snap), RestoreOptions{})
	require.NoError(t, err)
	require.Empty(t, report)
	require.EqualValues(t, 14, i.StateBytes())
	require.NoError(t, i.Boundary(0, 30*second))
	require.Empty(t, out.take(), "boundaries are part of the state")
	require.NoError(t, i.Boundary(0, 31*second))
	require.Equal(t, "0 until 26s", out.take())
	var e tuple.Encoder
	j, _, err := RestoreInstance(f, out, tuple.NewDecoder(snap), RestoreOptions{})
	require.NoError(t, err)
	j.Snapshot(&e)
	require.Equal(t, snap, e.B)
}

// A changed query keeps the state of what did not change; without leave any change is an error that says what changed.
func TestRestoreOfAChangedQuery(t *testing.T) {
	snap := snapshotOf(t, fragmentOf(t, twoPasses, "s"))
	for _, c := range []struct {
		name, operators string
		report          RestoreReport
		kept            int64
	}{
		{"renamed input only", twoPasses, RestoreReport{}, 14},
		{"an operator more", twoPasses + "\n[operators.new]\nkind = \"pass\"\ninput = \"s\"", RestoreReport{Fresh: []string{"new"}}, 14},
		{"one less", "[operators.s]\nkind = \"pass\"\ninput = \"a\"\nslack = \"5s\"", RestoreReport{Dropped: []string{"p"}}, 7},
		{"another slack", "[operators.p]\nkind = \"pass\"\ninput = \"a\"\n[operators.s]\nkind = \"pass\"\ninput = \"p\"\nslack = \"6s\"",
			RestoreReport{Dropped: []string{"s"}, Fresh: []string{"s"}}, 7},
		{"another kind", "[operators.p]\nkind = \"gather\"\ninputs = [\"a\"]\n[operators.s]\nkind = \"pass\"\ninput = \"p\"\nslack = \"5s\"",
			RestoreReport{Dropped: []string{"p"}, Fresh: []string{"p"}}, 7},
	} {
		last := "s"
		if len(c.report.Fresh) > 0 && c.report.Fresh[0] == "new" {
			last = "new"
		}
		f := fragmentOf(t, c.operators, last)
		i, report, err := RestoreInstance(f, &transcript{}, tuple.NewDecoder(snap), RestoreOptions{AllowChanged: true})
		require.NoError(t, err, c.name)
		require.Equal(t, c.report, report, c.name)
		require.Equal(t, c.kept, i.StateBytes(), c.name)
		_, _, err = RestoreInstance(f, &transcript{}, tuple.NewDecoder(snap), RestoreOptions{})
		if len(c.report.Dropped)+len(c.report.Fresh) == 0 {
			require.NoError(t, err, c.name)
			continue
		}
		var changed *ChangedError
		require.ErrorAs(t, err, &changed, c.name)
		require.Equal(t, c.report, changed.RestoreReport, c.name)
		require.Contains(t, err.Error(), "allow changed state to be dropped", c.name)
	}
}

func TestRestoreRefusesDamage(t *testing.T) {
	f := fragmentOf(t, twoPasses, "s")
	snap := snapshotOf(t, f)
	for n := range snap {
		_, _, err := RestoreInstance(f, &transcript{}, tuple.NewDecoder(snap[:n]), RestoreOptions{})
		require.Error(t, err, "cut at %d", n)
	}
	other := append([]byte(nil), snap...)
	other[0] = 9
	_, _, err := RestoreInstance(f, &transcript{}, tuple.NewDecoder(other), RestoreOptions{})
	require.ErrorIs(t, err, tuple.ErrCorrupt)
	require.ErrorContains(t, err, "snapshot has version 9; this build reads version 1")
}

// FuzzRestore: any bytes give an instance or an error.
func FuzzRestore(f *testing.F) {
	plan := fragmentOf(f, twoPasses, "s")
	i := NewInstance(plan, &transcript{})
	var e tuple.Encoder
	i.Snapshot(&e)
	f.Add(e.B)
	f.Fuzz(func(t *testing.T, b []byte) {
		i, _, err := RestoreInstance(plan, &transcript{}, tuple.NewDecoder(b), RestoreOptions{AllowChanged: true})
		if (i == nil) == (err == nil) {
			t.Fatalf("instance %v, error %v", i != nil, err)
		}
	})
}
