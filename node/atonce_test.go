package node

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAtOnce shows that those asked for their status are asked beside each other, each once, and not more at a time than is
// allowed.
func TestAtOnce(t *testing.T) {
	var all sync.WaitGroup
	all.Add(asked)
	atOnce(asked, func(int) { // in a row this would never end
		all.Done()
		all.Wait()
	})
	var running, most atomic.Int32
	calls := make([]int, 10*asked)
	atOnce(len(calls), func(i int) {
		n := running.Add(1)
		for {
			m := most.Load()
			if n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		calls[i]++
		running.Add(-1)
	})
	require.LessOrEqual(t, int(most.Load()), asked)
	for i, n := range calls {
		require.Equal(t, 1, n, "call %d", i)
	}
}
