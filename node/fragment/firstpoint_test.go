package fragment

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Replicas that start together do not stand still for their points together, nor do the fragments of one node; each does at the same
// time again.
func TestFirstPointsAreSpread(t *testing.T) {
	seen := make(map[time.Duration]bool)
	for n := range 10 {
		for _, fragment := range []string{"north/q/sums", "north/q/most"} {
			c := Config{Self: fmt.Sprintf("north/n%d", n), Name: fragment}
			c.complete()
			at := c.firstPoint()
			require.LessOrEqual(t, c.PointInterval/2, at)
			require.LessOrEqual(t, at, c.PointInterval)
			require.Equal(t, at, c.firstPoint())
			seen[at.Round(100*time.Millisecond)] = true
		}
	}
	require.Greater(t, len(seen), 10)
}
