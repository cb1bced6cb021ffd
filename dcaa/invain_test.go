package dcaa

import (
	"testing"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
)

// TestAskedInVain shows that who tells of more than it gives, or does not answer, is asked again and again, each time after a longer
// while, and that what is read meanwhile is not left for it.
func TestAskedInVain(t *testing.T) {
	for _, answers := range []bool{false, true} {
		s, shell := DefaultSettings(), &asked{}
		i := NewIntake(IntakeConfig{Settings: &s, Producers: []string{"a", "b", "c"}, From: tuple.Position{Time: tuple.MinTime}, Tentative: true}, 0, shell, deaf{})
		i.Reachable(0, 0, true)
		i.Heard(0, 0, StreamStatus{State: UpstreamFailure, Boundary: 1000, Generation: 1})
		i.Opened(0, 1)
		require.NoError(t, i.Frame(0, 1, &tuple.Frame{Kind: tuple.Boundary, Time: 1000, Generation: 1}))
		i.Reachable(0, 1, true)
		i.Reachable(0, 2, true)
		i.Heard(0, 2, StreamStatus{State: UpstreamFailure, Boundary: 1000, Generation: 1})
		var at []Instant
		open := len(shell.open)
		for now := Instant(0); now < 160*Instant(second); now += 100_000 {
			f := &tuple.Frame{Kind: tuple.TentativeBoundary, Run: tuple.Run{Producer: "a", N: 1}, Time: tuple.Time(1100 + now), Age: 1}
			require.NoError(t, i.Frame(now, 1, f))
			i.Heard(now, 1, StreamStatus{State: Stable, Boundary: tuple.Time(1100 + now), Generation: 1})
			for ; open < len(shell.open); open++ {
				require.Equal(t, 1, shell.open[open].Producer)
				at = append(at, now/Instant(second))
				if answers {
					i.Opened(now, shell.open[open].Conn)
				}
			}
			require.Zero(t, i.Source(), "a is read from all the while")
		}
		require.Equal(t, []Instant{0, 6, 16, 34, 68, 134}, at)
	}
}
