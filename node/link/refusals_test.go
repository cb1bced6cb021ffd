package link

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestRefusalsThatHeal: what is granted after a moment was never worth telling; what goes on is told once.
func TestRefusalsThatHeal(t *testing.T) {
	var r refusals
	k, other := refusalKey{"a", "north/q.f.o"}, refusalKey{"b", "north/q.f.o"}
	at := time.Unix(1000, 0)
	require.False(t, r.lasts(k, at))
	require.False(t, r.lasts(k, at.Add(time.Second)))
	r.forget(k)
	require.False(t, r.lasts(k, at.Add(5*time.Second)), "it was granted meanwhile")
	require.False(t, r.lasts(other, at.Add(9*time.Second)), "another peer")
	require.True(t, r.lasts(k, at.Add(9*time.Second)))
	require.False(t, r.lasts(k, at.Add(10*time.Second)), "told once")
}

// TestRefusalsAreBounded: a peer that asks for one stream after the other is not remembered for ever.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for i := range 3 * maxRefusals {
		r.lasts(refusalKey{"a", fmt.Sprint(i)}, time.Unix(0, 0))
	}
	require.LessOrEqual(t, len(r.seen), maxRefusals)
}
