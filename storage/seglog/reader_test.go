package seglog

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// A segment that grows and is followed by another, just as a reader has come to its end, has lost nothing: the reader
// goes on where it is.
func TestSegmentGrowsBehindItsReader(t *testing.T) {
	l, _, err := Open(t.TempDir(), Options{SegmentBytes: MinSegmentBytes})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	next := uint64(0)
	appendOne := func() {
		next++
		_, err := l.AppendSync(context.Background(), Entry{Key: next, Payload: make([]byte, MinSegmentBytes/3)})
		require.NoError(t, err)
	}
	appendOne()
	r, err := l.Reader(l.Oldest())
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	_, ok, err := r.TryNext()
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = r.inSegment()
	require.NoError(t, err)
	require.False(t, ok, "the segment has been read")

	for l.Stats().Segments < 2 {
		appendOne()
	}
	moved, err := r.advance()
	require.NoError(t, err)
	require.True(t, moved)
	for want := uint64(2); want <= next; want++ {
		rec, ok, err := r.TryNext()
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, want, rec.Key)
	}
}
