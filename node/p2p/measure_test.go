package p2p

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A round trip counts only if the peer was heard all the while: one that spans a silence measures the silence.
func TestRoundTripsOverSilence(t *testing.T) {
	limit := 300 * time.Millisecond
	start := time.Now()
	s := &session{link: &link{host: &Host{cfg: Default()}, patience: newPatience(Default())}}
	require.Equal(t, limit, s.link.limit(start))
	heard := func(after time.Duration) { s.heard.Store(start.Add(after).UnixNano()) }

	heard(0)
	require.True(t, s.heardSince(start, start.Add(limit)))
	require.False(t, s.heardSince(start, start.Add(limit+time.Millisecond)), "the answer may come before anything else does")

	heard(-time.Hour)
	began := time.Now()
	s.touch()
	now := time.Now()
	require.False(t, s.heardSince(began, now), "something came meanwhile, behind an hour of silence")
	require.True(t, s.heardSince(now, now), "begun behind the silence")
	s.touch()
	require.True(t, s.heardSince(now, time.Now()), "no other silence since")

	// To a peer that beats more slowly the limit has adapted: what it pauses for is no silence.
	s.link.refuted(time.Second, time.Now())
	began = time.Now()
	s.heard.Store(began.Add(-time.Second).UnixNano())
	require.True(t, s.heardSince(began, began))
	s.touch()
	require.True(t, s.heardSince(began, time.Now()))
}
