package seglog_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/storage/disk"
	"fednode/storage/seglog"
)

const small = seglog.MinSegmentBytes

// What was appended is read back in order, across segments and openings.
func TestAppendReopenRead(t *testing.T) {
	dir := t.TempDir()
	l, rec := open(t, dir, seglog.Options{SegmentBytes: small})
	require.Equal(t, seglog.Fresh, rec.Origin)
	fill(t, l, 1, 500, 7, 1000)
	keys, damage := drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, span(1, 500), keys)
	require.NoError(t, l.Close())

	l, rec = open(t, dir, seglog.Options{SegmentBytes: small})
	require.True(t, rec.Clean(), describe(&rec))
	require.EqualValues(t, 500, rec.LastSeq)
	require.Equal(t, seglog.Position{Generation: 1, Key: 500}, rec.Last)
	require.EqualValues(t, 2, rec.Identity.Boot)
	fill(t, l, 501, 100, 1, 1000)
	keys, damage = drain(t, l, l.Oldest())
	require.Empty(t, damage)
	require.Equal(t, span(1, 600), keys)
	last, ok, err := l.Last()
	require.NoError(t, err)
	require.True(t, ok)
	require.EqualValues(t, 600, last.Key)
	require.Equal(t, tuple.Time(600_000), last.Time)
}

// A reader begins at the first record whose key is not smaller, wherever that lies.
func TestSeek(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, seglog.Options{SegmentBytes: 4 * small})
	for k := uint64(2); k <= 2000; k += 2 {
		_, err := l.Append(context.Background(), entry(k, 700))
		require.NoError(t, err)
	}
	require.NoError(t, l.Sync(context.Background()))
	for _, reopened := range []bool{false, true} {
		if reopened {
			require.NoError(t, l.Close())
			l, _ = open(t, dir, seglog.Options{SegmentBytes: 4 * small})
		}
		for _, from := range []uint64{0, 1, 2, 3, 199, 200, 201, 1023, 1024, 1999, 2000, 2001} {
			keys, _ := drain(t, l, seglog.Position{Generation: 1, Key: from})
			want := max(2, from+from%2)
			require.Len(t, keys, int((2002-want)/2), "from %d", from)
			if len(keys) > 0 {
				require.Equal(t, want, keys[0])
			}
		}
	}
}

// Equal keys are allowed and all of them are found; a falling key is refused and changes nothing.
func TestKeysDoNotFall(t *testing.T) {
	l, _ := open(t, t.TempDir(), seglog.Options{})
	ctx := context.Background()
	_, err := l.AppendSync(ctx, entry(5, 10), entry(5, 20), entry(5, 30))
	require.NoError(t, err)
	_, err = l.AppendSync(ctx, entry(6, 10), entry(4, 10))
	require.ErrorContains(t, err, "key 4 after key 6")
	keys, _ := drain(t, l, seglog.Position{Generation: 1, Key: 5})
	require.Equal(t, []uint64{5, 5, 5}, keys)
}

// Nothing is visible before it is durable, and a waiting reader wakes when it is.
func TestReaderFollows(t *testing.T) {
	l, _ := open(t, t.TempDir(), seglog.Options{SegmentBytes: small})
	r, err := l.Reader(l.Oldest())
	require.NoError(t, err)
	defer func() { _ = r.Close() }()
	c, err := l.Append(context.Background(), entry(1, 100))
	require.NoError(t, err)
	_, ok, err := r.TryNext()
	require.NoError(t, err)
	require.False(t, ok)

	got := make(chan uint64, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), patient)
		defer cancel()
		rec, err := r.Next(ctx)
		if err == nil {
			got <- rec.Key
		}
		close(got)
	}()
	require.NoError(t, c.Wait(context.Background()))
	require.EqualValues(t, 1, <-got)

	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err = r.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, l.Close())
	_, err = r.Next(context.Background())
	require.ErrorIs(t, err, seglog.ErrClosed)
}

// A new generation numbers keys from 0 again; positions order generations first.
func TestGenerations(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, seglog.Options{})
	ctx := context.Background()
	fill(t, l, 1, 10, 10, 100)
	g, err := l.NewGeneration(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 2, g)
	require.Equal(t, seglog.Position{Generation: 2}, l.Durable())
	require.NoError(t, l.Close())

	l, rec := open(t, dir, seglog.Options{})
	require.EqualValues(t, 2, rec.Identity.Generation)
	fill(t, l, 1, 3, 1, 100)
	keys, _ := drain(t, l, seglog.Position{Generation: 1, Key: 9})
	require.Equal(t, []uint64{9, 10, 1, 2, 3}, keys)
	keys, _ = drain(t, l, seglog.Position{Generation: 2, Key: 2})
	require.Equal(t, []uint64{2, 3}, keys)
}

// Truncation takes whole segments and a reader that asks for them is told so.
func TestTruncate(t *testing.T) {
	dir := t.TempDir()
	l, _ := open(t, dir, seglog.Options{SegmentBytes: small})
	fill(t, l, 1, 1000, 10, 1000)
	lagging, err := l.Reader(l.Oldest())
	require.NoError(t, err)
	defer func() { _ = lagging.Close() }()
	removed, err := l.TruncateBefore(seglog.Position{Generation: 1, Key: 500})
	require.NoError(t, err)
	require.Greater(t, removed.Segments, 5)
	require.Zero(t, removed.Pinned)
	oldest := l.Oldest()
	require.LessOrEqual(t, oldest.Key, uint64(500))
	keys, _ := drain(t, l, oldest)
	require.Equal(t, span(oldest.Key, 1000), keys)

	_, err = l.Reader(seglog.Position{Generation: 1, Key: 3})
	gone := (*seglog.TruncatedError)(nil)
	require.ErrorAs(t, err, &gone)
	require.Equal(t, oldest, gone.Oldest)
	for err = nil; err == nil; {
		_, _, err = lagging.TryNext()
	}
	require.ErrorAs(t, err, &gone, "the reader inside a removed segment reads it to its end, then is told")

	require.NoError(t, l.Close())
	l, rec := open(t, dir, seglog.Options{SegmentBytes: small})
	require.True(t, rec.Clean(), describe(&rec))
	require.Equal(t, oldest, l.Oldest())
}

// Retention keeps history by age and size, and pinned records whatever their age unless the age is a maximum.
func TestRetain(t *testing.T) {
	for name, c := range map[string]struct {
		r      seglog.Retention
		pinned uint64
		oldest uint64 // the log then begins at or shortly before this key
		pins   bool
	}{
		"nothing asked keeps the pinned": {seglog.Retention{}, 700, 700, false},
		"age":                            {seglog.Retention{Age: 400_000}, 900, 600, false},
		"size":                           {seglog.Retention{Bytes: 300_000}, 900, 710, false},
		"both limits hold":               {seglog.Retention{Age: 200_000, Bytes: 500_000}, 1000, 800, false},
		"pinned stays":                   {seglog.Retention{Age: 400_000}, 200, 200, false},
		"age as a maximum":               {seglog.Retention{Age: 400_000, AgeIsMaximum: true}, 200, 600, true},
	} {
		t.Run(name, func(t *testing.T) {
			l, _ := open(t, t.TempDir(), seglog.Options{SegmentBytes: small})
			fill(t, l, 1, 1000, 10, 1000)
			removed, err := l.Retain(c.r, tuple.Time(1000*1000), seglog.Position{Generation: 1, Key: c.pinned})
			require.NoError(t, err)
			require.InDelta(t, c.oldest, l.Oldest().Key, 65)
			require.Equal(t, c.pins, removed.Pinned > 0)
		})
	}
}

// Since finds every record from a time on, and leaves most earlier ones out.
func TestSince(t *testing.T) {
	l, _ := open(t, t.TempDir(), seglog.Options{SegmentBytes: small})
	require.Equal(t, seglog.Position{}, l.Since(0))
	fill(t, l, 1, 1000, 10, 1000)
	for _, from := range []uint64{0, 1, 60, 61, 62, 500, 999, 1000, 2000} {
		keys, _ := drain(t, l, l.Since(tuple.Time(from*1000)))
		want := min(max(from, 1), 1000)
		require.LessOrEqual(t, keys[0], want, "from %d", from)
		require.Greater(t, keys[0]+65, want, "from %d", from)
		require.EqualValues(t, 1000, keys[len(keys)-1])
	}
	_, err := l.TruncateBefore(seglog.Position{Generation: 1, Key: 500})
	require.NoError(t, err)
	keys, _ := drain(t, l, l.Since(tuple.MinTime))
	require.Equal(t, l.Oldest().Key, keys[0])
}

// Two daemons on one directory: one message that names the holder and the remedy.
func TestLocked(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, seglog.Options{})
	_, _, err := seglog.Open(dir, seglog.Options{})
	require.ErrorIs(t, err, disk.ErrLocked)
	require.ErrorContains(t, err, "stop that process, or give this node a data directory of its own")
}

func TestBounds(t *testing.T) {
	_, _, err := seglog.Open(t.TempDir(), seglog.Options{SegmentBytes: 5})
	require.ErrorContains(t, err, "segment bytes 5; want 65536")
	l, _ := open(t, t.TempDir(), seglog.Options{SegmentBytes: small, PayloadBytes: 200_000})
	_, err = l.AppendSync(context.Background(), entry(1, 200_001))
	require.ErrorContains(t, err, "at most 200000")
	fill(t, l, 1, 3, 1, 200_000) // each in a segment of its own
	fill(t, l, 4, 1, 1, 0)
	keys, _ := drain(t, l, l.Oldest())
	require.Equal(t, span(1, 4), keys)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	_, err = l.Append(context.Background(), entry(9, 1))
	require.ErrorIs(t, err, seglog.ErrClosed)
	require.ErrorIs(t, l.Sync(context.Background()), seglog.ErrClosed)
}
