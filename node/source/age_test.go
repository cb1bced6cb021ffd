package source

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// TestAges shows that a boundary says how long ago it could have been known, slack and lag included, however late it is read, and
// that frames which cursors share stay as they are.
func TestAges(t *testing.T) {
	a := &ages{slack: 3_000_000}
	began := time.Now()
	for k := range 3 * mostMarks {
		a.note(tuple.Time(k)*100_000, 2_000_000, began.Add(time.Duration(k)*100*time.Millisecond))
	}
	now := began.Add(3 * mostMarks * 100 * time.Millisecond)
	shared := &tuple.Frame{Kind: tuple.Boundary, Time: (3*mostMarks - 50) * 100_000}
	require.Equal(t, int64(5_000_000+50*100_000), a.stamp(shared, now).Age)
	require.Equal(t, int64(5_000_000), a.stamp(shared, now).Normal, "slack and lag")
	require.Zero(t, shared.Age)
	between := &tuple.Frame{Kind: tuple.Boundary, Time: (3*mostMarks-50)*100_000 - 1}
	require.Equal(t, int64(5_000_000+50*100_000), a.stamp(between, now).Age, "the next boundary told it too")
	require.GreaterOrEqual(t, a.stamp(&tuple.Frame{Kind: tuple.Boundary, Time: 0}, now).Age, int64(mostMarks/2*100_000), "what is forgotten is at least that old")
	require.Equal(t, int64(5_000_000), a.stamp(&tuple.Frame{Kind: tuple.Boundary, Time: tuple.MaxTime}, now).Age)
	fresh := &ages{}
	fresh.note(100, 0, now)
	require.Equal(t, int64(1), fresh.stamp(&tuple.Frame{Kind: tuple.Boundary, Time: 100}, now).Age, "0 would say nothing")
	rows := &tuple.Frame{Kind: tuple.Insertion}
	require.Same(t, rows, a.stamp(rows, now))
}
