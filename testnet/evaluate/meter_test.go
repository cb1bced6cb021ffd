package evaluate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/testnet/sim"
)

// rowsOf makes a frame with one row of a source, that came to be at a world time.
func rowsOf(source int, number uint64, born int64) *tuple.Frame {
	b := &tuple.Batch{Time: []tuple.Time{tuple.Time(born - sim.WorldTime(0))}}
	b.Cols = []tuple.Column{{Int: []int64{int64(source)<<32 | int64(number)}}}
	return &tuple.Frame{Kind: tuple.Insertion, Batch: b}
}

// The meter takes the first sight of each row, leaves out what a source could not send, and sees a hole.
func TestMeter(t *testing.T) {
	const s, ms = tuple.Second, tuple.Millisecond
	m := newMeter(span{2 * s, 10 * s}, 15*s, [][]span{{{10 * s, 15 * s}}, nil})
	m.Rows(5*s+200*ms, rowsOf(0, 1, 5*s), false)
	m.Rows(5*s+900*ms, rowsOf(0, 1, 5*s), false) // again
	m.Rows(13*s, rowsOf(1, 1, 11*s), true)
	m.Reached(13*s, tuple.Time(12*s-sim.WorldTime(0)), true)
	m.Rows(16*s, rowsOf(0, 2, 11*s), false)        // could not be sent
	m.Rows(16*s, rowsOf(1, 2, 11*s+500*ms), false) // passed over before
	m.Over(17 * s)
	f := m.figures(&sim.Result{Breach: &sim.Breach{Promise: sim.PromiseEqual, Text: "differs"}})
	require.Equal(t, Micros(200*ms), f.Normal)
	require.Equal(t, Micros(4500*ms), f.Delay)
	require.Equal(t, Micros(4300*ms), f.Incremental)
	require.Equal(t, 1, f.Tentative)
	require.Equal(t, 1, f.Holes)
	require.Equal(t, Micros(2*s), f.Corrected)
	require.Equal(t, 1, f.Unequal)
	require.Len(t, f.Breaches, 1)
	require.Equal(t, 4, f.Rows)
}

// Of each tenth of a second the last point of each kind is kept.
func TestThin(t *testing.T) {
	l := &timeline{during: span{0, tuple.Second}}
	for _, p := range []struct {
		at, to    int64
		tentative bool
	}{{10, 1, false}, {20, 2, true}, {30, 3, false}, {100_001, 4, false}, {2_000_000, 9, false}} {
		l.reached(p.at, p.to, p.tentative)
	}
	require.Equal(t, []Point{{20, 2, true}, {30, 3, false}, {100_001, 4, false}}, l.thin())
	(*timeline)(nil).reached(1, 1, true)
}
