package seglog_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"fednode/query/tuple"
	"fednode/storage/seglog"
)

// patient is how long a test waits for what must come: a busy machine may be slow, and only a failing test waits so long.
const patient = time.Minute

// Appenders, followers, seeking readers and truncation at once: every follower sees every record once, in order.
func TestConcurrentUse(t *testing.T) {
	const records, appenders, followers = 2000, 4, 3
	l, _ := open(t, t.TempDir(), seglog.Options{SegmentBytes: small, PendingBytes: 20_000})
	ctx, cancel := context.WithTimeout(t.Context(), patient)
	defer cancel()
	var readers []*seglog.Reader
	for range followers {
		r, err := l.Reader(l.Oldest())
		require.NoError(t, err)
		readers = append(readers, r)
	}
	var wg sync.WaitGroup
	failed := make(chan error, records+followers)
	for _, r := range readers {
		wg.Go(func() {
			for want := uint64(1); want <= records; want++ {
				rec, err := r.Next(ctx)
				if err != nil || rec.Seq != want || string(rec.Payload) != string(payload(rec.Key, len(rec.Payload))) {
					failed <- fmt.Errorf("record %d, want %d: %w", rec.Seq, want, err)
					return
				}
			}
		})
	}
	next := make(chan uint64, 1)
	next <- 1
	for range appenders {
		wg.Go(func() {
			for key := range next {
				if key == records {
					defer close(next)
				}
				c, err := l.Append(ctx, entry(key, 300))
				if key < records {
					next <- key + 1
				}
				if err == nil {
					err = c.Wait(ctx)
				}
				if err != nil {
					failed <- err
				}
				if key == records {
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Errorf("a reader or appender stopped: %v", err)
	}
	for _, r := range readers {
		require.NoError(t, r.Close())
	}
	s := l.Stats()
	require.EqualValues(t, records, s.Records)
	require.LessOrEqual(t, s.Syncs, uint64(records))
	_, err := l.Retain(seglog.Retention{}, tuple.MaxTime, l.Durable())
	require.NoError(t, err)
	require.Equal(t, 1, l.Stats().Segments)
}

// Appends that wait together share one sync.
func TestGroupCommit(t *testing.T) {
	l, _ := open(t, t.TempDir(), seglog.Options{})
	ctx := context.Background()
	var commits []seglog.Commit
	for k := uint64(1); k <= 100; k++ {
		c, err := l.Append(ctx, entry(k, 100))
		require.NoError(t, err)
		commits = append(commits, c)
	}
	var wg sync.WaitGroup
	errs := make([]error, len(commits))
	for i, c := range commits {
		wg.Go(func() { errs[i] = c.Wait(ctx) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.EqualValues(t, 1, l.Stats().Syncs)
}

// A wait that is given up does not hold the others, and what it waited for becomes durable with them.
func TestCancelledWait(t *testing.T) {
	l, _ := open(t, t.TempDir(), seglog.Options{})
	gone, cancel := context.WithCancel(context.Background())
	c, err := l.Append(gone, entry(1, 10))
	require.NoError(t, err)
	cancel()
	require.ErrorIs(t, c.Wait(gone), context.Canceled)
	fill(t, l, 2, 1, 1, 10)
	require.NoError(t, c.Wait(context.Background()))
	keys, _ := drain(t, l, l.Oldest())
	require.Equal(t, span(1, 2), keys)
}
