package node

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorklist shows that no change of a query is lost, however many come at once: each is taken after its last change.
func TestWorklist(t *testing.T) {
	const queries, changes = 3000, 4
	w := newWorklist()
	var newest, seen sync.Map // the number of the last change of each query, when it was made and when it was taken
	var changing sync.WaitGroup
	for n := range queries {
		changing.Go(func() {
			for c := range changes {
				newest.Store(n, c)
				w.add(fmt.Sprint(n))
			}
		})
	}
	ended := make(chan struct{})
	go func() { changing.Wait(); close(ended) }()
	look := func() {
		ids := w.take()
		require.LessOrEqual(t, len(ids), queries)
		for _, id := range ids {
			var n int
			_, err := fmt.Sscan(id, &n)
			require.NoError(t, err)
			c, _ := newest.Load(n)
			seen.Store(n, c)
		}
	}
	for running := true; running; {
		select {
		case <-w.ready:
			look()
		case <-ended:
			look()
			running = false
		}
	}
	for n := range queries {
		c, _ := seen.Load(n)
		require.Equal(t, changes-1, c, "query %d", n)
	}
}

// TestWorklistOrder shows that queries are looked at in the order in which they first changed, each once.
func TestWorklistOrder(t *testing.T) {
	w := newWorklist()
	for _, id := range []string{"b", "a", "b", "c", "a"} {
		w.add(id)
	}
	<-w.ready
	require.Equal(t, []string{"b", "a", "c"}, w.take())
	require.Empty(t, w.take())
	w.add("a")
	<-w.ready
	require.Equal(t, []string{"a"}, w.take())
}
