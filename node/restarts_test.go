package node

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/node/fragment"
	"fednode/query"
)

// A fragment that takes over its parts one after the other goes on at once after each. What fails waits longer and longer, until it
// has lived calmly for a while.
func TestPauseBeforeRestart(t *testing.T) {
	taken, failed := fmt.Errorf("life: %w", fragment.ErrTransferred), errors.New("full")
	for _, c := range []struct {
		unions int
		lives  []error
		pauses []time.Duration // in seconds
	}{
		{1, []error{taken, taken, taken, failed}, []time.Duration{0, 1, 2, 4}},
		{3, []error{taken, taken, failed, taken, taken}, []time.Duration{0, 0, 1, 0, 2}},
		{0, []error{taken, failed, failed, failed, failed, failed, failed, failed}, []time.Duration{0, 1, 2, 4, 8, 16, 32, 60}},
	} {
		r := newRestarts(&query.FragmentPlan{Unions: make([]query.UnionPlan, c.unions)})
		for range 2 {
			for n, err := range c.lives {
				lived := time.Second
				if n == 0 {
					lived = restartCalm + time.Second
				}
				require.Equal(t, c.pauses[n]*time.Second, r.after(lived, err), "%d SUnions, life %d", c.unions, n)
			}
		}
	}
}
