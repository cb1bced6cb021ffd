package dcaa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// reader is an intake that reads from one producer, which stands at 100.
func reader(t *testing.T, s *Settings, now Instant) *Intake {
	t.Helper()
	i := NewIntake(IntakeConfig{Settings: s, Producers: []string{"a", "b"}, From: tuple.Position{Generation: 1, ID: 7, Time: 100}, Tentative: true},
		now, &opener{}, &heardAll{})
	i.Reachable(now, 0, true)
	i.Heard(now, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7})
	require.NotNil(t, i.next)
	i.Opened(now, i.next.id)
	return i
}

// Who is read says whether it holds a bucket, or one above it does; what others say does not count.
func TestWithheld(t *testing.T) {
	s := DefaultSettings()
	i := reader(t, &s, 1)
	require.Zero(t, i.Withheld())
	i.Heard(2, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7, Above: 300_000})
	require.Equal(t, int64(300_000), i.Withheld())
	i.Heard(3, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7, Above: 400_000, Holding: 500_000})
	require.Equal(t, int64(500_000), i.Withheld())
	i.Heard(3, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7, Above: 400_000, Holding: s.MaxDelay + 1})
	require.Equal(t, int64(400_000), i.Withheld(), "who holds for longer than our bound does not give up first")
	i.Heard(3, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7, Above: s.MaxDelay + 1})
	require.Zero(t, i.Withheld())
	i.Reachable(4, 0, false)
	require.Zero(t, i.Withheld(), "who is gone gives nothing up")
	i.Reachable(4, 0, true)
	i.Heard(4, 0, StreamStatus{State: Stable, Boundary: 100, Generation: 1, LastID: 7})
	i.Reachable(4, 1, true)
	i.Heard(4, 1, StreamStatus{State: UpstreamFailure, Boundary: 50, Generation: 1, LastID: 3, Above: 600_000})
	require.Zero(t, i.Withheld())
}
