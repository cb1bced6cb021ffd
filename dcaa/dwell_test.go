package dcaa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// A boundary that has waited says so to whoever reads it then, and to others not.
func TestDwell(t *testing.T) {
	var d Dwell
	b := &tuple.Frame{Kind: tuple.Boundary, Time: 100, Age: 7}
	d.Note(b, 1_000_000)
	require.Same(t, b, d.Stamp(b, 1_000_500), "what is read at once is not copied")
	require.Equal(t, int64(2_000_007), d.Stamp(b, 3_000_000).Age)
	require.Equal(t, int64(7), b.Age, "frames are shared")
	between := &tuple.Frame{Kind: tuple.Boundary, Time: 50}
	require.Equal(t, int64(2_000_000), d.Stamp(between, 3_000_000).Age, "the next boundary told it too")
	beyond := &tuple.Frame{Kind: tuple.Boundary, Time: 200}
	require.Same(t, beyond, d.Stamp(beyond, 3_000_000))
	rows := &tuple.Frame{Kind: tuple.Insertion}
	require.Same(t, rows, d.Stamp(rows, 3_000_000))
}

// Tentative boundaries are counted by themselves, and by run: the next run may begin lower.
func TestDwellOfRuns(t *testing.T) {
	var d Dwell
	high := &tuple.Frame{Kind: tuple.TentativeBoundary, Time: 300, Age: 1}
	low := &tuple.Frame{Kind: tuple.TentativeBoundary, Time: 200, Age: 1}
	d.Note(high, 0)
	d.Note(&tuple.Frame{Kind: tuple.RecDone}, 10_000)
	d.Note(low, 20_000)
	require.Equal(t, int64(10_001), d.Stamp(low, 30_000).Age)
	stable := &tuple.Frame{Kind: tuple.Boundary, Time: 200}
	require.Same(t, stable, d.Stamp(stable, 30_000))
}

// Of a run that has ended some frames may be read still, where a GAP has replaced them, until the next one begins.
func TestDwellBehindARun(t *testing.T) {
	var d Dwell
	kept := &tuple.Frame{Kind: tuple.TentativeBoundary, Time: 300, Age: 1}
	d.Note(kept, 0)
	d.Note(&tuple.Frame{Kind: tuple.RecDone}, 10_000)
	require.Equal(t, int64(30_001), d.Stamp(kept, 30_000).Age)
}

// What is remembered is bounded, and what is forgotten is at least as old as the oldest that is not.
func TestDwellIsBounded(t *testing.T) {
	var d Dwell
	for k := range 3 * mostDwelling {
		d.Note(&tuple.Frame{Kind: tuple.Boundary, Time: tuple.Time(k)}, Instant(k)*1000)
	}
	require.LessOrEqual(t, len(d.stable), mostDwelling)
	now := Instant(3*mostDwelling) * 1000
	require.GreaterOrEqual(t, d.Stamp(&tuple.Frame{Kind: tuple.Boundary, Time: 0}, now).Age, int64(mostDwelling/2)*1000)
}
