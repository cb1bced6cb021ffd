package source

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestStandstill: a gap between two looks that is longer than a running process makes is a standstill, once.
func TestStandstill(t *testing.T) {
	now := time.Now()
	s := standstill{last: now, most: 200 * time.Millisecond}
	require.False(t, s.over(now.Add(100*time.Millisecond)))
	require.True(t, s.over(now.Add(5*time.Second)))
	require.False(t, s.over(now.Add(5100*time.Millisecond)))
}
