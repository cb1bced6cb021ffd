package p2p

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A round trip counts only if the peer was heard all the while: one that spans a silence measures the silence.
func TestRoundTripsOverSilence(t *testing.T) {
	limit := 300 * time.Millisecond
	start := time.Now()
	h := &Host{cfg: Default(), began: start.Add(-2 * time.Hour)}
	s := &session{link: &link{host: h, patience: newPatience(Default())}}
	require.Equal(t, limit, s.link.limit(start))
	heard := func(after time.Duration) { s.heard.Store(int64(h.since(start.Add(after)))) }

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
	s.heard.Store(int64(h.since(began.Add(-time.Second))))
	require.True(t, s.heardSince(began, began))
	s.touch()
	require.True(t, s.heardSince(began, time.Now()))
}

// afterStep returns what time.Now would show, had the machine's clock been set ahead meanwhile by so many seconds.
func afterStep(t *testing.T, at time.Time, seconds uint64) time.Time {
	stepped := at
	*(*uint64)(unsafe.Pointer(&stepped)) += seconds << 30 // the seconds of the time of day; what passes is shown beside it
	require.Zero(t, stepped.Sub(at))
	require.Equal(t, time.Duration(seconds)*time.Second, stepped.Round(0).Sub(at.Round(0)))
	return stepped
}

// A machine whose clock is set ahead has not been silent for so long, nor has what it hears come behind a silence: it would
// end the sessions with all its peers.
func TestClockIsSet(t *testing.T) {
	h := &Host{cfg: Default(), began: time.Now().Add(-time.Hour)}
	s := &session{link: &link{host: h, patience: newPatience(Default())}}
	s.touch()
	now := time.Now()
	stepped := afterStep(t, now, 3600)
	require.Equal(t, s.silence(now), s.silence(stepped))
	require.True(t, s.heardSince(now, stepped))
	require.Equal(t, h.clock(now), h.clock(stepped))
}
